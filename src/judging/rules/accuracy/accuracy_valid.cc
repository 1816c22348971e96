#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_valid(const Scope& at, Out& out) {
  const Accuracy& accuracy = at.point->accuracy;
  if (!accuracy.present()) return out.not_applicable();
  if (accuracy.document.broken())
    out.error(accuracy.document.place(), accuracy.document.trouble(), "valid JSON");
  out.issues(accuracy.document, accuracy.issues);
}

}  // namespace

Rule accuracy_valid() {
  return {.id = "accuracy-valid",
          .group = "accuracy",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§4.3: Accuracy",
          .demand = "accuracy_results.json names each dataset once, with a score",
          .fix = "copy accuracy/accuracy_results.json from the run folder",
          .check = check_accuracy_valid};
}

}  // namespace assay::rules
