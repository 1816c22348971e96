#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_point_count(const Scope& at, Out& out) {
  const PointFolder* offline = at.curve->offline_point();
  const bool dedicated = offline != nullptr && offline->dedicated();
  const std::int64_t least = at.tree.edition.points_min + (dedicated ? 1 : 0);
  if (static_cast<std::int64_t>(at.curve->points.size()) < least) {
    out.error({at.curve->path}, format("{} points", at.curve->points.size()),
              format("{} or more", least));
  }
}

void check_point_cap(const Scope& at, Out& out) {
  if (static_cast<std::int64_t>(at.curve->points.size()) > at.tree.edition.points_max) {
    out.error({at.curve->path}, format("{} points", at.curve->points.size()),
              format("{} or fewer", at.tree.edition.points_max));
  }
}

void check_benchmark_type_consistency(const Scope& at, Out& out) {
  const PointFolder* single = nullptr;
  const PointFolder* agentic = nullptr;
  for (const PointFolder& point : at.curve->points) {
    if (!point.usable() || point.dedicated()) continue;
    if (point.load_pattern == "concurrency" && single == nullptr) single = &point;
    if (point.load_pattern == "agentic_inference" && agentic == nullptr) agentic = &point;
  }
  if (single != nullptr && agentic != nullptr) {
    out.error(agentic->point.place("/runtime_settings/load_pattern"),
              format("{} is agentic, {} is not", agentic->name, single->name), "one kind of load");
  }
}

constexpr Rule kCurvePointRules[] = {
    {.id = "point-count",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.3: Point count",
     .demand = "at least 8 points with a dedicated Offline point, else 7",
     .fix = "measure more; points cannot be added after submitting",
     .check = check_point_count},
    {.id = "point-cap",
     .level = Level::curve,
     .action = Action::reject_points,
     .clause = "§5.3: Point cap",
     .demand = "at most 32 points, Offline included",
     .fix = "leave the least telling points out",
     .check = check_point_cap},
    {.id = "benchmark-type-consistency",
     .level = Level::curve,
     .action = Action::flag,
     .clause = "§6.1, §8.5: Configuration consistency",
     .demand = "all points are single-turn, or all agentic",
     .fix = "submit two curves",
     .check = check_benchmark_type_consistency},
};

}  // namespace

std::span<const Rule> curve_point_rules() { return kCurvePointRules; }

}  // namespace assay::rules
