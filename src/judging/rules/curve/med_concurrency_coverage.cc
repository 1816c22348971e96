#include "rules/curve/coverage.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_med_concurrency_coverage(const Scope& at, Out& out) {
  check_coverage(at, out, rulebook::Region::med_concurrency);
}

}  // namespace

Rule med_concurrency_coverage() {
  return {
      .id = "med-concurrency-coverage",
      .group = "curve",
      .level = Level::curve,
      .action = Action::reject_submission,
      .clause = "§5.5: Medium Concurrency coverage",
      .demand = "a point in the region med_concurrency",
      .fix = "measure one there; plan a spare, for withdrawing the lowest point moves all regions",
      .check = check_med_concurrency_coverage};
}

}  // namespace assay::rules
