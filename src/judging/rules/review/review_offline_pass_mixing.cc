#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_offline_pass_mixing(const Scope& at, Out& out) {
  if (!at.point->log || !at.point->dedicated()) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  // Between two passes, some overlap is only the end of the first one.
  constexpr double kShare = 0.05;
  if (static_cast<double>(log.early.count) > kShare * static_cast<double>(log.issued)) {
    out.warning({at.point->events, log.early.line},
                format("{} of {} queries ended while an earlier pass was in flight",
                       log.early.count, log.issued),
                "passes one after the other");
  }
}

}  // namespace

Rule review_offline_pass_mixing() {
  return {.id = "review-offline-pass-mixing",
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "Manual review",
          .demand = "a dedicated Offline run finishes each pass over the dataset before the next",
          .fix = "requests may be reordered within a pass, never across passes",
          .check = check_review_offline_pass_mixing};
}

}  // namespace assay::rules
