#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_log_readable(const Scope& at, Out& out) {
  if (!at.point->log) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  if (!log.trouble.empty()) {
    out.warning({at.point->events, log.trouble_line}, log.trouble,
                "a log in the reference client's form");
  }
}

}  // namespace

Rule review_log_readable() {
  return {.id = "review-log-readable",
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "Manual review",
          .demand = "an event log in the tree can be read to its end",
          .fix = "copy the log again, or leave it out: it is no part of a submission",
          .check = check_review_log_readable};
}

}  // namespace assay::rules
