#include <cmath>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_tpot_p90(const Scope& at, Out& out) {
  if (at.point->dedicated() || !at.point->metrics.unit.empty()) return out.not_applicable();
  const auto tpot = at.point->metrics.tpot_p90_ns;
  if (!tpot || !std::isfinite(*tpot) || *tpot <= 0) {
    out.error(at.point->summary.place("/tpot/percentiles"),
              tpot ? format("TPOT P90 is {} ns", *tpot) : "no TPOT P90",
              "above 0, under the key \"90.0\"");
  }
}

}  // namespace

Rule metric_consistency_tpot_p90() {
  return {.id = "metric-consistency-tpot-p90",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "TPOT P90 is there and above 0",
          .fix = "measure with streaming on; Offline alone does without",
          .check = check_metric_consistency_tpot_p90};
}

}  // namespace assay::rules
