#include "rules/metrics/stored.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_system_tps(const Scope& at, Out& out) {
  check_stored(at, out, "/system_tps", at.point->metrics.system_tps);
}

}  // namespace

Rule metric_consistency_system_tps() {
  return {.id = "metric-consistency-system-tps",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::flag,
          .clause = "§9.1: Metric consistency",
          .demand = "system_tps is output tokens over seconds",
          .fix = "write what follows from the file's own totals",
          .check = check_metric_consistency_system_tps};
}

}  // namespace assay::rules
