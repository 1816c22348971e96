#include "rules/point/same.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_config_consistency_model(const Scope& at, Out& out) {
  check_same(at, out, "/model_name");
}

}  // namespace

Rule config_consistency_model() {
  return {.id = "config-consistency-model",
          .group = "point",
          .level = Level::curve,
          .action = Action::flag,
          .clause = "§9.1: Configuration consistency",
          .demand = "all points name one model",
          .fix = "one curve is one model",
          .check = check_config_consistency_model};
}

}  // namespace assay::rules
