#include "rules/point/same.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_config_consistency_dataset(const Scope& at, Out& out) {
  check_same(at, out, "/dataset");
}

}  // namespace

Rule config_consistency_dataset() {
  return {.id = "config-consistency-dataset",
          .group = "point",
          .level = Level::curve,
          .action = Action::flag,
          .clause = "§9.1: Configuration consistency",
          .demand = "all points name one dataset",
          .fix = "one curve is one dataset",
          .check = check_config_consistency_dataset};
}

}  // namespace assay::rules
