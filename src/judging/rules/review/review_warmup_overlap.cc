#include "base/has_word.h"
#include "base/text.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_review_warmup_overlap(const Scope& at, Out& out) {
  if (at.point->usable()) {
    const std::string source = lower(at.point->point.at("/warmup/data_source").as_string());
    const std::string dataset = lower(at.point->point.at("/dataset").as_string());
    // A dataset may be called "prompts", and synthetic prompts are none of it.
    const bool synthetic = source.starts_with("synthetic");
    // "orca" is not in "open_orca".
    if (!synthetic && has_word(source, dataset, "_-")) {
      out.warning(at.point->point.place("/warmup/data_source"),
                  format("warm-up with {}", said(at.point->point.at("/warmup/data_source"))),
                  "other data than the performance set");
    }
  }
  if (!at.point->log) return;
  const EventSummary& log = *at.point->log;
  if (log.warmup_prompts.count > 0) {
    out.warning(
        {at.point->events, log.warmup_prompts.line},
        format("{} measured prompts were asked in warm-up before", log.warmup_prompts.count),
        "no prompt twice");
  }
}

}  // namespace

Rule review_warmup_overlap() {
  return {.id = "review-warmup-overlap",
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "Manual review",
          .demand = "warm-up used none of the performance data",
          .fix = "warm up with synthetic or accuracy data",
          .check = check_review_warmup_overlap};
}

}  // namespace assay::rules
