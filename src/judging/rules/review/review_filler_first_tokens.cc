#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_filler_first_tokens(const Scope& at, Out& out) {
  if (!at.point->log) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  constexpr double kShare = 0.05;
  if (static_cast<double>(log.filler_first.count) > kShare * static_cast<double>(log.completed)) {
    out.warning({at.point->events, log.filler_first.line},
                format("{} of {} replies begin with white space alone, such as {}",
                       log.filler_first.count, log.completed, log.filler_first.example),
                "text, reasoning or a tool call");
  }
}

}  // namespace

Rule review_filler_first_tokens() {
  return {
      .id = "review-filler-first-tokens",
      .severity = Severity::warning,
      .action = Action::flag,
      .clause = "Manual review",
      .demand = "first fragments carry output",
      .fix = "TTFT must be genuine: a first fragment of white space stops the clock for nothing",
      .check = check_review_filler_first_tokens};
}

}  // namespace assay::rules
