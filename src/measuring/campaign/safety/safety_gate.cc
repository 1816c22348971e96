#include "campaign/safety/safety_gate.h"

#include <algorithm>
#include <set>
#include <utility>

#include "audit/loaded_run.h"
#include "base/format.h"
#include "campaign/safety/safety_levels.h"
#include "record/event_log.h"

namespace assay::campaign {
namespace {

std::string shown(const std::filesystem::path& path, const std::filesystem::path& root) {
  const std::string below = path.lexically_relative(root).generic_string();
  return below.empty() ? std::string(".") : below;
}

}  // namespace

std::string model_of(const std::filesystem::path& safety_run) {
  const auto logs = record::find_event_logs(audit::log_folder(safety_run / "answers/01"));
  if (!logs || logs->empty()) return {};
  const auto info = record::read_run_info(logs->front());
  return info ? std::string(info->facts["model"].as_string()) : std::string();
}

namespace {

Result<std::vector<safety::GatedLevel>> series_levels(const SafetyWish& wish,
                                                      const std::vector<std::uint32_t>& levels,
                                                      const std::filesystem::path& root) {
  std::vector<safety::GatedLevel> out;
  std::vector<std::string> own;
  ASSIGN_OR_RETURN(SafetyLevels derived, derive_levels(wish, levels, own));
  for (SafetyLevel& level : derived.levels) {
    out.push_back({.concurrency = level.concurrency,
                   .folder = shown(level.folder, root),
                   .model = model_of(level.folder),
                   .report = std::move(level.report),
                   .attacked = std::move(level.attacked),
                   .differences = std::move(level.differences)});
  }
  for (std::string& one : own) out.front().differences.push_back("of the series: " + one);
  return out;
}

// The thresholds of the folder's pack, where the user gave none.
void use_pack(const SafetyWish& run, safety::GateWish& wish) {
  if (!run.pack) return;
  const safety::Thresholds& pack = run.pack->thresholds;
  if (!wish.least) wish.least = pack.least;
  if (!wish.gap_max && run.attacks) wish.gap_max = pack.gap_max;
  if (wish.hazards.empty()) wish.hazards = pack.hazards;
}

Result<std::vector<safety::GatedLevel>> gated_levels(const std::filesystem::path& root,
                                                     const SafetyWish& wish) {
  const std::filesystem::path folder = wish.folder;
  ASSIGN_OR_RETURN(const auto levels, open_levels(folder));
  if (levels && !levels->empty()) return series_levels(wish, *levels, root);
  ASSIGN_OR_RETURN(SafetyLevel level, derive_level(wish, 0));
  safety::GatedLevel out{.folder = shown(folder, root), .model = model_of(folder)};
  out.report = std::move(level.report);
  out.attacked = std::move(level.attacked);
  ASSIGN_OR_RETURN(out.differences, check_safety(wish));
  return std::vector{std::move(out)};
}

}  // namespace

std::filesystem::path safety_folder_of(const std::filesystem::path& folder) {
  return CurveFolder::is_curve(folder) ? folder / "safety" : folder;
}

bool holds_safety(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(safety_folder_of(folder) / "safety.json", ignored);
}

std::vector<std::uint32_t> curve_concurrencies(const CurveFolder& folder) {
  std::set<std::uint32_t> out;
  const auto& points = folder.settings().plan.points;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].offline == plan::Offline::dedicated || !folder.points()[i].finished) continue;
    out.insert(static_cast<std::uint32_t>(points[i].concurrency));
  }
  return {out.begin(), out.end()};
}

Result<GatedFolder> gate_folder(const std::filesystem::path& folder, safety::GateWish wish,
                                const std::optional<SealKey>& key) {
  GatedFolder out;
  if (CurveFolder::is_curve(folder)) {
    ASSIGN_OR_RETURN(const CurveFolder curve, CurveFolder::read(folder));
    for (const std::uint32_t one : curve_concurrencies(curve)) wish.concurrencies.push_back(one);
    wish.model = curve.settings().model;
  } else if (!holds_safety(folder)) {
    return invalid(format("'{}' holds no safety run (safety.json)", folder.string()));
  }
  if (holds_safety(folder)) {
    ASSIGN_OR_RETURN(const SafetyWish run, open_safety(safety_folder_of(folder), key));
    use_pack(run, wish);
    ASSIGN_OR_RETURN(out.levels, gated_levels(folder, run));
  }
  out.findings = judge_levels(out.levels, wish);
  out.wish = std::move(wish);
  return out;
}

void add_causes(const std::vector<safety::GateFinding>& findings, Ending& ending) {
  for (const safety::GateFinding& one : findings) {
    if (!one.error) continue;
    const bool worse =
        one.code == "safety-min" || one.code == "safety-load" || one.code == "safety-attacks";
    ending.add(worse ? ExitCode::worse : ExitCode::findings, one.where + ": " + one.found);
  }
}

}  // namespace assay::campaign
