#include <optional>

#include "rules/accuracy/bands.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_gate(const Scope& at, Out& out) {
  const rulebook::Benchmark* benchmark = at.curve->benchmark;
  const Accuracy& accuracy = at.point->accuracy;
  if (!accuracy.scored() || at.curve->agentic) return out.not_applicable();
  const Place where = accuracy.document.place("/accuracy_scores");
  if (benchmark == nullptr || benchmark->gates.empty()) {
    out.warning(where, format("no thresholds are known for {}", at.curve->model),
                "one of the benchmark's models");
    return;
  }
  const bool unnamed = weighted_mean(accuracy, "score", Inlined::left_out).has_value();
  for (const rulebook::AccuracyGate& gate : benchmark->gates) {
    const bool first = &gate == &benchmark->gates.front();
    std::optional<double> mean = weighted_mean(accuracy, gate.metric, Inlined::taken);
    if (!mean && unnamed) {
      if (!first) continue;
      out.warning(where, format("a score without a name: it is held to {} alone", gate.metric),
                  format("\"score\": {{\"{}\": …}}", gate.metric));
      mean = weighted_mean(accuracy, "score", Inlined::left_out);
    }
    if (!mean) {
      out.error(where, format("no {} in the file", gate.metric),
                format("{:.4f} or more", gate.lower));
      continue;
    }
    // A share is converted if the threshold is a percentage.
    const double value = *mean >= 0 && *mean <= 1 && gate.lower > 1 ? *mean * 100 : *mean;
    if (value < gate.lower || (gate.upper && value > *gate.upper)) {
      out.error(where, format("{} is {:.4f}", gate.metric, value),
                gate.upper ? format("{:.4f} to {:.4f}", gate.lower, *gate.upper)
                           : format("{:.4f} or more", gate.lower));
    }
  }
}

}  // namespace

Rule accuracy_gate() {
  return {.id = "accuracy-gate",
          .action = Action::reject_submission,
          .clause = "§4.3: Accuracy",
          .demand = "each gated metric lies within its bounds, without tolerance",
          .fix = "look into precision and sampling settings; no rule allows a lower score",
          .check = check_accuracy_gate};
}

}  // namespace assay::rules
