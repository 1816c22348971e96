// What a curve is before anything is asked: the settings that all points share, the datasets and
// the plan, of a new curve or of one that is gone on with.
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

  // Where sentences and the live block's frames go while it measures; may be empty.
  std::function<void(const std::string&)> say{};
  std::function<void(std::string_view)> paint{};
};

// Settings that a curve decides for each of its points.
const std::set<std::string>& decided_by_curve();

struct PreparedCurve {
  plan::Config config{};
  std::vector<Dataset> datasets{};
  CurveSettings settings{};
  std::vector<std::string> notes{};
  // Shared: every run of the curve goes by the one test query.
  std::shared_ptr<Preflight> preflight = std::make_shared<Preflight>();
};

// Reads the settings: `file` in place of the config that the command line names, "" for that one,
// and the flags in `decided` after all others.
using LoadSettings = std::function<Result<plan::LoadedConfig>(
    const std::string& file, const std::vector<std::pair<std::string, std::string>>& decided)>;

Result<PreparedCurve> prepare_curve(const LoadSettings& load, const CurveOptions& options);
// The curve in `folder` with its own settings; of the command line only what cannot be kept counts:
// keys.
Result<PreparedCurve> prepare_resumed(const LoadSettings& load, const CurveFolder& folder);

// What the output caching audit asks, as curve.json keeps it; null where the flags want none.
Result<Json> audit_wish(const CurveOptions& options, const plan::CurvePlan& plan);

// `wanted`, or a new one below curves/.
Result<std::filesystem::path> choose_curve_folder(const std::string& wanted);
// The same curve asked for again goes on; another one in the same place is an error.
Result<CurveFolder> open_curve_folder(const std::filesystem::path& path,
                                      const CurveSettings& settings);

}  // namespace assay::campaign
