#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_accuracy_sample_count(const Scope& at, Out& out) {
  const rulebook::Benchmark* benchmark = at.curve->benchmark;
  const Accuracy& accuracy = at.point->accuracy;
  if (benchmark == nullptr || benchmark->agentic || !accuracy.scored()) return out.not_applicable();
  std::int64_t samples = 0;
  bool counted = false;
  for (const AccuracyEntry& entry : accuracy.entries) {
    samples += entry.performance ? 0 : entry.samples;
    counted = counted || (!entry.performance && entry.counted);
  }
  if (!counted) {
    out.warning(accuracy.document.place("/accuracy_scores"), "the samples are not counted",
                "unit_samples and num_repeats of each dataset");
  } else if (samples < benchmark->accuracy_samples_min) {
    out.error(accuracy.document.place("/accuracy_scores"), format("{} samples scored", samples),
              format("{} or more", benchmark->accuracy_samples_min));
  }
}

}  // namespace

Rule accuracy_sample_count() {
  return {.id = "accuracy-sample-count",
          .group = "accuracy",
          .level = Level::point,
          .action = Action::reject_submission,
          .clause = "§4.3: Accuracy",
          .demand = "the accuracy run asked the whole accuracy set, with its repeats",
          .fix = "run every sample of each dataset, num_repeats times",
          .check = check_accuracy_sample_count};
}

}  // namespace assay::rules
