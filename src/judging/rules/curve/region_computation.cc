#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_region_computation(const Scope& at, Out& out) {
  if (at.curve->c_max && !at.curve->regions_trouble.empty()) {
    out.error({at.curve->path}, at.curve->regions_trouble,
              "a lowest concurrency of 1..32, and C_max above 32");
  }
}

}  // namespace

Rule region_computation() {
  return {.id = "region-computation",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.5: Max concurrency",
          .demand = "1 <= C_min <= 32 < C_max",
          .fix =
              "declare the concurrency that the system supports, above 32; `assay regions` shows "
              "the table",
          .check = check_region_computation};
}

}  // namespace assay::rules
