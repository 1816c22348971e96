#include <algorithm>
#include <cmath>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_tps_utilization(const Scope& at, Out& out) {
  double most = 0;
  for (const PointFolder& point : at.curve->points) {
    most = std::max(most, point.metrics.system_tps.value_or(0));
  }
  if (most <= 0) return out.not_applicable();
  for (const PointFolder& point : at.curve->points) {
    if (!point.description.good() || !point.metrics.system_tps) continue;
    const Json& stored = point.description.at("/tps_utilization");
    const double derived = *point.metrics.system_tps / most;
    if (!stored.is_number()) {
      out.warning(point.description.place(), "tps_utilization is missing",
                  format("{:.3f}", derived));
    } else if (std::fabs(stored.as_double() - derived) > at.tree.edition.utilization_tolerance) {
      out.error(point.description.place("/tps_utilization"),
                format("tps_utilization is {}", stored.dump()),
                format("{:.3f}, give or take {}", derived, at.tree.edition.utilization_tolerance));
    }
  }
}

}  // namespace

Rule tps_utilization() {
  return {.id = "tps-utilization",
          .level = Level::curve,
          .action = Action::flag,
          .clause = "§8.2: Metric consistency",
          .demand = "tps_utilization is system_tps over the largest of the curve",
          .fix = "write it when all points are there; `assay pack` does",
          .check = check_tps_utilization};
}

}  // namespace assay::rules
