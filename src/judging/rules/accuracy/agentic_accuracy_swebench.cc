#include "rules/accuracy/bands.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_agentic_accuracy_swebench(const Scope& at, Out& out) {
  if (!at.curve->agentic || at.curve->benchmark == nullptr || !at.curve->benchmark->agentic)
    return out.not_applicable();
  if (!any_accuracy(at.tree)) return out.not_applicable();
  double sum = 0;
  int bands = 0;
  Place where{at.curve->path};
  for (const AccuracyBand& band : accuracy_bands(*at.curve).bands) {
    double total = 0;
    int scores = 0;
    for (const PointFolder* point : band.runs) {
      for (const AccuracyEntry& entry : point->accuracy.entries) {
        if (entry.dataset != "swe_bench" || entry.metrics.empty()) continue;
        const double score = entry.metrics.front().second;
        where = point->accuracy.document.place(entry.pointer);
        if (!(score >= 0 && score <= 1))
          out.error(where, format("a SWE-bench score of {}", score), "a fraction, 0 to 1");
        total += score;
        ++scores;
      }
    }
    if (scores > 1)
      out.warning(where, format("{} SWE-bench scores in {}: their mean counts", scores, band.name),
                  "one");
    if (scores == 0) continue;
    sum += total / scores;
    ++bands;
  }
  const double least = at.curve->benchmark->agentic_gate.swebench_min;
  constexpr int kBands = 4;
  if (bands < kBands)
    out.warning({at.curve->path}, format("SWE-bench scores in {} bands", bands), "in all four");
  if (bands > 0 && sum / bands * 100 < least) {
    out.error(where, format("a SWE-bench mean of {:.2f} %", sum / bands * 100),
              format("{} % or more", least));
  }
}

}  // namespace

Rule agentic_accuracy_swebench() {
  return {.id = "agentic-accuracy-swebench",
          .group = "accuracy",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§4.3: Accuracy",
          .demand = "the mean of the four bands' SWE-bench scores reaches the benchmark's",
          .fix = "run SWE-bench once in each band",
          .check = check_agentic_accuracy_swebench};
}

}  // namespace assay::rules
