// What `assay curve` knows before it asks anything: its flags, the settings that all points share,
// the datasets and the plan, of a new curve or of one that is gone on with.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/curve/curve_folder.h"
#include "cli/flags.h"
#include "cli/measure/run_flags.h"
#include "cli/results/recorded_run.h"
#include "domain/sample.h"
#include "metrics/caching_audit.h"
#include "plan/config.h"

namespace assay::cli {

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

  // This must outlive flags.parse().
  void add_to(Flags& flags);
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

Result<PreparedCurve> prepare_curve(RunFlags& flags, const CurveOptions& options);
// The curve in `folder` with its own settings; of the command line only what cannot be kept counts:
// keys.
Result<PreparedCurve> prepare_resumed(RunFlags& flags, const CurveFolder& folder);

// What the output caching audit asks, as curve.json keeps it; null where the flags want none.
Result<Json> audit_wish(const CurveOptions& options, const plan::CurvePlan& plan);

// `wanted`, or a new one below curves/.
Result<std::filesystem::path> choose_curve_folder(const std::string& wanted);
// The same curve asked for again goes on; another one in the same place is an error.
Result<CurveFolder> open_curve_folder(const std::filesystem::path& path,
                                      const CurveSettings& settings);

}  // namespace assay::cli
