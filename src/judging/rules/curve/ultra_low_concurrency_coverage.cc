#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_ultra_low_concurrency_coverage(const Scope& at, Out& out) {
  for (const PointFolder& point : at.curve->points) {
    if (at.curve->ultra_low(point)) return;
  }
  out.error({at.curve->path}, format("no point at concurrency 1..{}", at.curve->ultra_low_end()),
            "one or more");
}

}  // namespace

Rule ultra_low_concurrency_coverage() {
  return {.id = "ultra-low-concurrency-coverage",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.4: Ultra Low Concurrency coverage",
          .demand = "a point at concurrency 1..32, or 1..C_min where C_min is declared",
          .fix = "measure one; it decides C_min",
          .check = check_ultra_low_concurrency_coverage};
}

}  // namespace assay::rules
