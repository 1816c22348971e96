#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_result_file_valid(const Scope& at, Out& out) {
  if (at.point->summary.absent()) return out.not_applicable();
  if (at.point->summary.broken())
    out.error(at.point->summary.place(), at.point->summary.trouble(), "valid JSON");
  out.issues(at.point->summary, at.point->summary_issues);
}

}  // namespace

Rule result_file_valid() {
  return {.id = "result-file-valid",
          .group = "metrics",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§8.3: Metric consistency",
          .demand = "result_summary.json is valid, each figure in its kind",
          .fix = "copy the file from the run folder as it is",
          .check = check_result_file_valid};
}

}  // namespace assay::rules
