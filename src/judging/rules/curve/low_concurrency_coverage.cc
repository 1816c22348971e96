#include "rules/curve/coverage.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_low_concurrency_coverage(const Scope& at, Out& out) {
  check_coverage(at, out, rulebook::Region::low_concurrency);
}

}  // namespace

Rule low_concurrency_coverage() {
  return {
      .id = "low-concurrency-coverage",
      .group = "curve",
      .level = Level::curve,
      .action = Action::reject_submission,
      .clause = "§5.5: Low Concurrency coverage",
      .demand = "a point in the region low_concurrency",
      .fix = "measure one there; plan a spare, for withdrawing the lowest point moves all regions",
      .check = check_low_concurrency_coverage};
}

}  // namespace assay::rules
