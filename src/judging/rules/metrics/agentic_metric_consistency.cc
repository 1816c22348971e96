#include "rules/metrics/stored.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_agentic_metric_consistency(const Scope& at, Out& out) {
  const bool stored = !at.point->summary.at("/e2e_avg_interactivity").is_null();
  if (!at.point->metrics.interactivity) {
    // A single-turn run need not have it, but what it states must follow from something.
    if (!stored && !at.curve->agentic) return out.not_applicable();
    out.error(at.point->summary.place(stored ? "/e2e_avg_interactivity" : ""),
              "e2e_avg_interactivity can't be derived",
              "output_tokens_per_turn_total and e2e_turn_time_seconds_total");
    return;
  }
  check_stored(at, out, "/e2e_avg_interactivity", at.point->metrics.interactivity);
}

}  // namespace

Rule agentic_metric_consistency() {
  return {.id = "agentic-metric-consistency",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§4.1: Agentic metric consistency",
          .demand = "a stated e2e_avg_interactivity follows from the turns' tokens and seconds",
          .fix = "record output_tokens_per_turn_total and e2e_turn_time_seconds_total",
          .check = check_agentic_metric_consistency};
}

}  // namespace assay::rules
