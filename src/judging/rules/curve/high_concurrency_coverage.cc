#include "rules/curve/coverage.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_high_concurrency_coverage(const Scope& at, Out& out) {
  check_coverage(at, out, rulebook::Region::high_concurrency);
}

}  // namespace

Rule high_concurrency_coverage() {
  return {.id = "high-concurrency-coverage",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.5: High Concurrency coverage",
          .demand = "a point in the region high_concurrency; the margin does not count",
          .fix = "measure one there, at C_max to elect it as Offline",
          .check = check_high_concurrency_coverage};
}

}  // namespace assay::rules
