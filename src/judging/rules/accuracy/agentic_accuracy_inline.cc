#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_agentic_accuracy_inline(const Scope& at, Out& out) {
  if (!at.curve->agentic || at.curve->benchmark == nullptr || !at.curve->benchmark->agentic)
    return out.not_applicable();
  const Accuracy& accuracy = at.point->accuracy;
  const AccuracyEntry* entry = accuracy.inline_entry();
  if (entry == nullptr || entry->metrics.empty()) {
    out.error(accuracy.present() ? accuracy.document.place() : Place{at.point->path},
              format("no inline score at {}", at.point->name),
              "an entry with dataset_type: performance");
    return;
  }
  const double score = entry->metrics.front().second;
  const double least = at.curve->benchmark->agentic_gate.inline_min;
  const Place where = accuracy.document.place(entry->pointer);
  if (!(score >= 0 && score <= 1)) {
    out.error(where, format("an inline score of {}", score), "a fraction, 0 to 1");
  } else if (score * 100 < least) {
    out.error(where, format("an inline score of {:.2f} %", score * 100),
              format("{} % or more", least));
  }
}

}  // namespace

Rule agentic_accuracy_inline() {
  return {.id = "agentic-accuracy-inline",
          .group = "accuracy",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§4.3: Accuracy",
          .demand = "each point has an inline score, which reaches the benchmark's",
          .fix = "score the turns as they complete (agentic_inference_inline)",
          .check = check_agentic_accuracy_inline};
}

}  // namespace assay::rules
