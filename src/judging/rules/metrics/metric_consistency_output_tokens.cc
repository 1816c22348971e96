#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_output_tokens(const Scope& at, Out& out) {
  if (!at.point->metrics.unit.empty()) return out.not_applicable();
  const auto total = at.point->metrics.output_tokens;
  const std::string_view pointer = "/output_sequence_lengths/total";
  if (!total) {
    out.error(at.point->summary.place(pointer), "no output_sequence_lengths.total",
              "the run's output tokens");
  } else if (*total < 0) {
    out.error(at.point->summary.place(pointer), format("{} output tokens", *total), "0 or more");
  }
}

}  // namespace

Rule metric_consistency_output_tokens() {
  return {.id = "metric-consistency-output-tokens",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "the output tokens are there and not negative",
          .fix = "count them with the reference tokenizer",
          .check = check_metric_consistency_output_tokens};
}

}  // namespace assay::rules
