#include "rules/rule.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule benchmark_type_consistency() {
  return {.id = "benchmark-type-consistency",
          .level = Level::curve,
          .action = Action::flag,
          .clause = "§6.1, §8.5: Configuration consistency",
          .demand = "all points are single-turn, or all agentic",
          .fix = "submit two curves",
          .check = check_benchmark_type_consistency};
}

}  // namespace assay::rules
