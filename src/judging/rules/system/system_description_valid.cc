#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_system_description_valid(const Scope& at, Out& out) {
  const PointFolder* first = nullptr;
  for (const PointFolder& point : at.curve->points) {
    // In the old layout all points share one file.
    if (at.tree.pareto && &point != &at.curve->points.front()) break;
    if (point.description.broken()) {
      out.error(point.description.place(), point.description.trouble(), "valid JSON");
    } else if (first == nullptr && point.description.good()) {
      first = &point;
    }
  }
  if (first != nullptr) out.issues(first->description, first->description_issues);
}

}  // namespace

Rule system_description_valid() {
  return {.id = "system-description-valid",
          .group = "system",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§8.2: Submission completeness",
          .demand = "system_desc.json has every required field in its kind",
          .fix = "fill the field in; docs/formats/submission.md lists them",
          .check = check_system_description_valid};
}

}  // namespace assay::rules
