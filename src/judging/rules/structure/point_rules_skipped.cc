#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_rules_skipped(const Scope& at, Out& out) {
  if (!at.point->usable()) {
    out.warning({at.point->path + "/point.yaml"},
                "point.yaml can't be used: the rules on what it declares were not asked",
                "a point.yaml that point-config-valid accepts");
  }
}

}  // namespace

Rule point_rules_skipped() {
  return {.id = "point-rules-skipped",
          .group = "structure",
          .level = Level::point,
          .severity = Severity::warning,
          .clause = "§8.1: Submission completeness",
          .demand = "a point's declarations can be judged",
          .fix = "mend point.yaml first and check again",
          .check = check_point_rules_skipped};
}

}  // namespace assay::rules
