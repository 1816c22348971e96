#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_duration(const Scope& at, Out& out) {
  const double duration = at.point->metrics.duration_ns.value_or(0);
  if (duration <= 0)
    out.error(at.point->summary.place("/duration_ns"), format("duration_ns is {}", duration),
              "above 0");
}

}  // namespace

Rule metric_consistency_duration() {
  return {.id = "metric-consistency-duration",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "duration_ns is above 0",
          .fix = "measure the point again",
          .check = check_metric_consistency_duration};
}

}  // namespace assay::rules
