#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_run_complete(const Scope& at, Out& out) {
  const Json& complete = at.point->summary.at("/complete");
  const std::string state = lower(at.point->summary.at("/state").as_string());
  if (complete.is_bool() && !complete.as_bool()) {
    out.error(at.point->summary.place("/complete"), "complete is false", "a run that drained");
  } else if (state == "interrupted") {
    out.error(at.point->summary.place("/state"), "the run was interrupted", "a run that drained");
  }
}

}  // namespace

Rule run_complete() {
  return {.id = "run-complete",
          .group = "point",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::reject_points,
          .clause = "§8.3: Submission completeness",
          .demand = "the run ended by itself",
          .fix = "measure the point again: an interrupted run cannot be used",
          .check = check_run_complete};
}

}  // namespace assay::rules
