#include <vector>

#include "base/text.h"
#include "rules/metrics/stored.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_metric_consistency_tps_per_kw(const Scope& at, Out& out) {
  const auto& power = at.system->power;
  if (!power || !power->good() || !at.point->metrics.system_tps) return out.not_applicable();
  std::vector<rulebook::NodesUsed> used;
  for (const Json& part : at.point->point.at("/nodes_used").items()) {
    const auto id = parse_int(part["system_node_ensemble_id"].as_string());
    used.push_back({part["system_node_ensemble_id"].as_int(id ? *id : -1), part["nodes"].as_int()});
  }
  const double kilowatts = rulebook::point_power_kw(*power, used);
  if (kilowatts <= 0) return out.not_applicable();
  check_stored(at, out, "/system_tps_per_kw", *at.point->metrics.system_tps / kilowatts);
}

}  // namespace

Rule metric_consistency_tps_per_kw() {
  return {.id = "metric-consistency-tps-per-kw",
          .group = "metrics",
          .level = Level::point,
          .needs = Needs::measured_point,
          .action = Action::reject_submission,
          .clause = "§4.5.3: Per-point denominator",
          .demand = "system_tps_per_kw is system_tps over the point's provisioned power",
          .fix = "write what follows from system_power.json and nodes_used",
          .check = check_metric_consistency_tps_per_kw};
}

}  // namespace assay::rules
