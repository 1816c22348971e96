#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_repeated_output(const Scope& at, Out& out) {
  if (!at.point->log) return out.not_applicable();
  const EventSummary& log = *at.point->log;
  constexpr double kShare = 0.01;
  const double enough = kShare * static_cast<double>(log.completed);
  if (static_cast<double>(log.same_output.count) > enough) {
    out.warning({at.point->events, log.same_output.line},
                format("{} of {} replies are word for word those to other prompts",
                       log.same_output.count, log.completed),
                "an answer of its own for each prompt");
  }
  if (static_cast<double>(log.padded.count) > enough) {
    out.warning({at.point->events, log.padded.line},
                format("{} of {} replies end in one short piece again and again", log.padded.count,
                       log.completed),
                "output that ends when it is done");
  }
}

}  // namespace

Rule review_repeated_output() {
  return {.id = "review-repeated-output",
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "Manual review",
          .demand = "replies are neither copies of each other nor padded",
          .fix =
              "check for a response cache and for a generation that never stops; either "
              "invalidates the point",
          .check = check_review_repeated_output};
}

}  // namespace assay::rules
