#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_config_valid(const Scope& at, Out& out) {
  if (at.point->point.broken())
    out.error(at.point->point.place(), at.point->point.trouble(), "valid YAML");
  out.issues(at.point->point, at.point->point_issues);
}

}  // namespace

Rule point_config_valid() {
  return {.id = "point-config-valid",
          .group = "point",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§8.3: Submission completeness",
          .demand = "point.yaml is valid, each field in its kind and bounds",
          .fix = "mend the field; docs/formats/submission.md lists them all",
          .check = check_point_config_valid};
}

}  // namespace assay::rules
