#include <cmath>

#include "rules/metrics/stored.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

// Replies without tokens: what stands in the place of tokens and TPOT.
void check_metric_consistency_units(const Scope& at, Out& out) {
  const Metrics& m = at.point->metrics;
  if (m.unit.empty()) return out.not_applicable();
  if (!m.units || *m.units < 0) {
    out.error(at.point->summary.place("/assay/units/completed"),
              m.units ? format("{} {}s", *m.units, m.unit) : "no assay.units.completed",
              "0 or more");
  }
  check_stored(at, out, "/assay/units/per_second", m.units_per_s);
  if (!m.latency_p90_ns || !std::isfinite(*m.latency_p90_ns) || *m.latency_p90_ns <= 0) {
    out.error(
        at.point->summary.place("/latency/percentiles"),
        m.latency_p90_ns ? format("latency P90 is {} ns", *m.latency_p90_ns) : "no latency P90",
        "above 0, under the key \"90.0\"");
  }
}

}  // namespace

Rule metric_consistency_units() {
  return {.id = "metric-consistency-units",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "where replies are no tokens, units and latency P90 are there and agree",
          .fix = "copy the summary of the run folder as it is",
          .check = check_metric_consistency_units};
}

}  // namespace assay::rules
