#include "rules/accuracy/bands.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_agentic_accuracy(const Scope& at, Out& out) {
  if (!at.curve->agentic) return out.not_applicable();
  if (at.curve->benchmark == nullptr || !at.curve->benchmark->agentic) {
    out.warning({at.curve->path},
                format("an agentic curve of {}, which has no agentic thresholds", at.curve->model),
                "an agentic benchmark");
  }
}

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

void check_agentic_osl_range(const Scope& at, Out& out) {
  if (!at.curve->agentic || at.curve->benchmark == nullptr || !at.curve->benchmark->agentic)
    return out.not_applicable();
  const std::string_view pointer = "/output_sequence_lengths_full_run/output_sequence_lengths/avg";
  const Json& mean = at.point->summary.at(pointer);
  const rulebook::AgenticGate& gate = at.curve->benchmark->agentic_gate;
  if (!mean.is_number()) {
    out.warning(at.point->summary.place(pointer), "no mean output length of the full run",
                std::string(spoken(pointer)));
  } else if (mean.as_double() < gate.osl_min || mean.as_double() > gate.osl_max) {
    out.error(at.point->summary.place(pointer), format("{} tokens a turn", mean.dump()),
              format("{} to {}", gate.osl_min, gate.osl_max));
  }
}

constexpr Rule kAgenticAccuracyRules[] = {
    {.id = "agentic-accuracy",
     .level = Level::curve,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§3.2: Accuracy",
     .demand = "an agentic curve is of an agentic benchmark",
     .fix = "use one of the agentic models",
     .check = check_agentic_accuracy},
    {.id = "agentic-accuracy-inline",
     .action = Action::reject_submission,
     .clause = "§4.3: Accuracy",
     .demand = "each point has an inline score, which reaches the benchmark's",
     .fix = "score the turns as they complete (agentic_inference_inline)",
     .check = check_agentic_accuracy_inline},
    {.id = "agentic-accuracy-swebench",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§4.3: Accuracy",
     .demand = "the mean of the four bands' SWE-bench scores reaches the benchmark's",
     .fix = "run SWE-bench once in each band",
     .check = check_agentic_accuracy_swebench},
    {.id = "agentic-osl-range",
     .needs = Needs::measured_point,
     .action = Action::reject_submission,
     .clause = "§4.3: Accuracy",
     .demand = "the mean output length a turn, over the full run, lies in the benchmark's range",
     .fix = "look into the chat template and the sampling settings",
     .check = check_agentic_osl_range},
};

}  // namespace

std::span<const Rule> agentic_accuracy_rules() { return kAgenticAccuracyRules; }

}  // namespace assay::rules
