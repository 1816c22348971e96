#include <algorithm>
#include <cmath>

#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_max_concurrency_declared(const Scope& at, Out& out) {
  if (!at.curve->c_max) return out.not_applicable();
  out.info({at.curve->path}, format("C_max is {}", *at.curve->c_max));
  for (const PointFolder& point : at.curve->points) {
    const Json& stated = point.point.at("/max_supported_concurrency");
    if (point.usable() && stated.is_number() && stated.as_int() != *at.curve->c_max) {
      out.warning(point.point.place("/max_supported_concurrency"),
                  format("max_supported_concurrency is {}", stated.dump()),
                  format("{}, as in system_desc.json", *at.curve->c_max));
    }
  }
}

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

constexpr Rule kCapacityRules[] = {
    {.id = "max-concurrency-declared",
     .level = Level::curve,
     .severity = Severity::warning,
     .action = Action::reject_submission,
     .clause = "§5.5: Max concurrency",
     .demand = "every point and the description declare the same C_max",
     .fix = "one max_supported_concurrency for the system",
     .check = check_max_concurrency_declared},
    {.id = "tps-utilization",
     .level = Level::curve,
     .action = Action::flag,
     .clause = "§8.2: Metric consistency",
     .demand = "tps_utilization is system_tps over the largest of the curve",
     .fix = "write it when all points are there; `assay pack` does",
     .check = check_tps_utilization},
};

}  // namespace

std::span<const Rule> capacity_rules() { return kCapacityRules; }

}  // namespace assay::rules
