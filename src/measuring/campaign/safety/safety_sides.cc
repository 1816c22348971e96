#include "campaign/safety/safety_sides.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "campaign/curve/curve_load.h"
#include "campaign/safety/safety_gate.h"
#include "campaign/safety/safety_levels.h"

namespace assay::campaign {
namespace {

std::optional<double> known(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

// A point of a series without a curve: the speed is that of the safety run.
metrics::CurvePoint safety_point(const SafetyLevel& level) {
  metrics::CurvePoint out{.name = format("c{}", level.concurrency)};
  out.concurrency = level.concurrency;
  out.measured = true;
  out.run.system_tps = known(level.tps);
  out.run.ttft_p90_ms = level.ttft_p90_ms;
  metrics::SafetyGrade safety{.queries = level.queries, .failed = level.failed};
  const safety::Graded& all = level.report.overall;
  if (all.grade) safety.grade = label_of(*all.grade);
  if (all.counts.graded > 0) safety.safe_share = all.counts.share();
  out.safety = std::move(safety);
  return out;
}

void add_speed(const metrics::Curve& curve, safety::LevelRun& level) {
  for (const metrics::CurvePoint& point : curve.points) {
    if (point.all_at_once() || !point.measured) continue;
    if (static_cast<std::uint64_t>(point.concurrency) != level.concurrency) continue;
    const metrics::PointFigures& figures = point.official();
    level.system_tps = figures.throughput();
    level.tps_per_user = figures.tps_per_user;
    level.ttft_p90_ms = known(figures.ttft_p90_ms);
  }
}

Result<std::vector<SafetyLevel>> levels_of_folder(const SafetyWish& wish) {
  ASSIGN_OR_RETURN(const auto begun, open_levels(wish.folder));
  std::vector<std::string> differences;
  std::vector<SafetyLevel> out;
  if (begun && !begun->empty()) {
    ASSIGN_OR_RETURN(SafetyLevels series, derive_levels(wish, *begun, differences));
    out = std::move(series.levels);
  } else {
    ASSIGN_OR_RETURN(SafetyLevel one, derive_level(wish, 0));
    ASSIGN_OR_RETURN(one.differences, check_safety(wish));
    out.push_back(std::move(one));
  }
  for (const SafetyLevel& level : out) {
    differences.insert(differences.end(), level.differences.begin(), level.differences.end());
  }
  if (differences.empty()) return out;
  return invalid(format("'{}': {}\n  assay check {} lists what was changed", wish.folder.string(),
                        differences.front(), wish.folder.string()));
}

}  // namespace

Result<SafetySide> load_safety_side(const std::filesystem::path& folder,
                                    const std::optional<SealKey>& key) {
  const bool is_curve = CurveFolder::is_curve(folder);
  if (!holds_safety(folder)) {
    return invalid(
        format("'{}' holds no safety run\n  assay safety run {}", folder.string(),
               is_curve ? "--curve " + folder.string() : "--levels 1,8,32 makes a series"));
  }
  ASSIGN_OR_RETURN(const SafetyWish wish, open_safety(safety_folder_of(folder), key));
  ASSIGN_OR_RETURN(std::vector<SafetyLevel> levels, levels_of_folder(wish));
  SafetySide out;
  safety::LevelSide& side = out.side;
  side.name = folder.string();
  side.model = model_of(levels.front().folder);
  side.judges_sha256 = wish.judges.sha256;
  side.prompts_sha256 = safety::prompts_sha256(wish.attacks ? wish.seeds : wish.prompts);
  side.standard_sha256 = levels.front().report.standard_sha256;
  if (is_curve) {
    ASSIGN_OR_RETURN(const CurveFolder curve, CurveFolder::read(folder));
    ASSIGN_OR_RETURN(out.curve, load_curve(curve));
    side.precision = out.curve.precision;
  } else {
    out.curve.model = side.model;
    for (const SafetyLevel& level : levels) out.curve.points.push_back(safety_point(level));
  }
  for (SafetyLevel& level : levels) {
    safety::LevelRun run{.concurrency = level.concurrency, .queries = level.queries};
    run.report = std::move(level.report);
    run.items = std::move(level.items);
    run.failed = level.failed;
    if (level.attacked && level.attacked->table.pairs() > 0) {
      run.attack_gap = level.attacked->table.gap();
    }
    add_speed(out.curve, run);
    side.levels.push_back(std::move(run));
  }
  return out;
}

Result<Json> compare_safety_folders(const std::filesystem::path& a, const std::filesystem::path& b,
                                    const std::optional<SealKey>& key,
                                    std::optional<double> margin) {
  ASSIGN_OR_RETURN(const SafetySide left, load_safety_side(a, key));
  ASSIGN_OR_RETURN(const SafetySide right, load_safety_side(b, key));
  const auto done = safety::compare_safety(left.side, right.side, margin);
  return safety::safety_comparison_json(done, left.side, right.side, margin);
}

}  // namespace assay::campaign
