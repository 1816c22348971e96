// Prepares a curve before the first query: the settings that all points share, the datasets and the
// plan, for a new curve or a resumed one.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "campaign/curve/curve_folder.h"
#include "campaign/recorded_run.h"
#include "domain/sample.h"
#include "metrics/caching_audit.h"
#include "plan/config_reader.h"

namespace assay::campaign {

struct CurveOptions {
  ClientOptions client{};
  std::optional<std::uint64_t> c_max{};
  std::uint64_t c_min = 1;
  std::string levels{};
  std::optional<std::uint64_t> spare{};
  std::string offline = "auto";
  std::string rules = "v1.0";
  std::string seed_set{};
  std::string cohort{};
  std::string precision{};
  std::string resume{};
  std::string find{};
  std::string slo{};
  bool quick = false;
  bool no_accuracy = false;
  bool dry_run = false;
  bool json = false;
  bool quiet = false;
  std::string store{};
  bool audit = false;
  bool audit_only = false;
  std::uint64_t audit_samples = 0;
  std::uint64_t audit_row = 0;
  double audit_threshold = metrics::kCachingThreshold;

  // Receive messages and the live block's frames during the measurement; may be empty.
  std::function<void(const std::string&)> say{};
  std::function<void(std::string_view)> paint{};
};

// Settings that the curve sets for each of its points.
const std::set<std::string>& decided_by_curve();

struct PreparedCurve {
  plan::Config config{};
  std::vector<Dataset> datasets{};
  CurveSettings settings{};
  std::vector<std::string> notes{};
  // Shared: all runs of the curve use the one test query.
  std::shared_ptr<Preflight> preflight = std::make_shared<Preflight>();
};

// Reads the settings. `file` replaces the config that the command line names ("" keeps it); the
// flags in `decided` override all others.
using LoadSettings = std::function<Result<plan::LoadedConfig>(
    const std::string& file, const std::vector<std::pair<std::string, std::string>>& decided)>;

Result<PreparedCurve> prepare_curve(const LoadSettings& load, const CurveOptions& options);
// Prepares the curve in `folder` with its own settings. From the command line it takes only the API
// keys, which the folder can't keep.
Result<PreparedCurve> prepare_resumed(const LoadSettings& load, const CurveFolder& folder);

// The audit's requests, as curve.json keeps them; null if the flags ask for none.
Result<Json> audit_wish(const CurveOptions& options, const plan::CurvePlan& plan);

// `wanted`, or a new folder below curves/.
Result<std::filesystem::path> choose_curve_folder(const std::string& wanted);
// Resumes the same curve, or begins a new one; a different curve in the same place is an error.
Result<CurveFolder> open_curve_folder(const std::filesystem::path& path,
                                      const CurveSettings& settings);

}  // namespace assay::campaign
