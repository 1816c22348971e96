#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_result_summary_present(const Scope& at, Out& out) {
  if (at.point->summary.absent()) {
    out.error({at.point->path}, "no result_summary.json", at.point->path + "/result_summary.json");
  }
}

}  // namespace

Rule result_summary_present() {
  return {.id = "result-summary-present",
          .group = "structure",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "each point has its result_summary.json",
          .fix = "copy performance/result_summary.json from the run folder",
          .check = check_result_summary_present};
}

}  // namespace assay::rules
