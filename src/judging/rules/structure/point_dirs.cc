#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_dirs(const Scope& at, Out& out) {
  if (at.curve->points.empty()) {
    out.error({at.curve->path}, "no folder r<N>", at.curve->path + "/r<concurrency>/");
  }
}

}  // namespace

Rule point_dirs() {
  return {.id = "point-dirs",
          .group = "structure",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "a model holds points, in folders r<concurrency>",
          .fix = "one folder r<N> for each measured concurrency",
          .check = check_point_dirs};
}

}  // namespace assay::rules
