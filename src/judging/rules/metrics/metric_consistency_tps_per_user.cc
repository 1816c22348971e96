#include "rules/metrics/stored.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_tps_per_user(const Scope& at, Out& out) {
  if (at.point->dedicated()) return out.not_applicable();
  check_stored(at, out, "/tps_per_user", at.point->metrics.tps_per_user);
}

}  // namespace

Rule metric_consistency_tps_per_user() {
  return {.id = "metric-consistency-tps-per-user",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "tps_per_user is 1000 over TPOT P90 in ms",
          .fix = "write what follows from tpot.percentiles[\"90.0\"]",
          .check = check_metric_consistency_tps_per_user};
}

}  // namespace assay::rules
