#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_measurement_points_present(const Scope& at, Out& out) {
  int usable = 0;
  for (const PointFolder& point : at.curve->points) {
    usable += point.usable() ? 1 : 0;
    if (point.point.absent()) out.error({point.path}, "no point.yaml", point.path + "/point.yaml");
  }
  if (usable == 0)
    out.error({at.curve->path}, "no point whose point.yaml can be used", "one or more");
}

}  // namespace

Rule measurement_points_present() {
  return {.id = "measurement-points-present",
          .group = "structure",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "each point has its point.yaml",
          .fix = "write point.yaml beside result_summary.json; `assay curve` does",
          .check = check_measurement_points_present};
}

}  // namespace assay::rules
