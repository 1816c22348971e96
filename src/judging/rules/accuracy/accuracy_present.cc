#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_present(const Scope& at, Out& out) {
  bool any_point = false;
  for (const System& system : at.tree.systems) {
    for (const Curve& curve : system.curves) {
      for (const PointFolder& point : curve.points) {
        any_point = true;
        if (point.accuracy.present()) return;
      }
    }
  }
  if (any_point)
    out.error({"results"}, "no accuracy_results.json anywhere", "one at each required point");
}

}  // namespace

Rule accuracy_present() {
  return {
      .id = "accuracy-present",
      .group = "accuracy",
      .level = Level::tree,
      .action = Action::reject_submission,
      .clause = "§5.3: Accuracy",
      .demand = "an accuracy result somewhere in the submission",
      .fix = "run accuracy straight after performance at the required points; `assay curve` does",
      .check = check_accuracy_present};
}

}  // namespace assay::rules
