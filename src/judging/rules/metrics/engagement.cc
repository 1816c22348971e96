#include "rules/metrics/engagement.h"

#include <algorithm>

#include "base/text.h"

namespace assay::rules {
namespace {

// Limit for factors, so that their products do not overflow.
constexpr std::int64_t kEngagementMost = 100'000;

std::int64_t bounded(const Json& value, std::int64_t fallback) {
  return std::clamp<std::int64_t>(value.as_int(fallback), 0, kEngagementMost);
}

std::int64_t ensemble_id(const Json& id) {
  const auto text = parse_int(id.as_string());
  return id.as_int(text ? *text : -1);
}

std::vector<EngagedNodes> described_nodes(const Json& description) {
  std::vector<EngagedNodes> out;
  for (const Json& type : description["node_types"].items()) {
    EngagedNodes one{.ensemble = ensemble_id(type["system_node_ensemble_id"]),
                     .nodes = bounded(type["number_of_nodes"], 0)};
    for (const Json& accelerator : type["accelerator_info"].items()) {
      one.accelerators += bounded(accelerator["accelerators_per_node"], 0);
    }
    out.push_back(one);
  }
  return out;
}

std::vector<EngagedNodes> provisioned_nodes(const rulebook::Power& power,
                                            const std::vector<EngagedNodes>& described) {
  std::vector<EngagedNodes> out;
  for (const rulebook::NodeSetPower& set : power.sets) {
    EngagedNodes one{.ensemble = set.ensemble,
                     .nodes = std::clamp<std::int64_t>(set.nodes, 0, kEngagementMost)};
    const auto type = std::ranges::find(described, set.ensemble, &EngagedNodes::ensemble);
    if (set.accelerators) {
      one.accelerators = std::clamp<std::int64_t>(*set.accelerators, 0, kEngagementMost);
    } else if (type != described.end()) {
      one.accelerators = type->accelerators;
    }
    out.push_back(one);
  }
  return out;
}

}  // namespace

std::vector<const EngagedNodes*> Engagement::find(const Json& id) const {
  std::vector<const EngagedNodes*> out;
  for (const EngagedNodes& set : sets) {
    if (set.ensemble == ensemble_id(id)) out.push_back(&set);
  }
  return out;
}

Engagement engagement_of(const Scope& at) {
  Engagement out;
  const Json& description = at.point->description.root();
  out.sets = described_nodes(description);
  if (at.system->power && at.system->power->good()) {
    out.sets = provisioned_nodes(*at.system->power, out.sets);
    out.of_power_file = true;
  }
  // A set without a number of accelerators leaves the sum unknown.
  const bool known =
      std::ranges::all_of(out.sets, [](const EngagedNodes& set) { return set.accelerators > 0; });
  for (const EngagedNodes& set : out.sets) {
    if (known || !out.of_power_file) out.accelerators += set.nodes * set.accelerators;
  }
  // Some descriptions keep the parallelism in config_summary.
  const auto declared = [&description](std::string_view name) -> const Json& {
    const Json& value = description[name];
    return value.is_number() ? value : description["config_summary"][name];
  };
  for (const std::string_view name : {"tensor_parallel", "pipeline_parallel", "expert_parallel"}) {
    const Json& value = declared(name);
    out.declared = out.declared || value.is_number();
    out.replica *= std::max<std::int64_t>(bounded(value, 1), 1);
  }
  const Json& copies = declared("data_parallel");
  out.declared = out.declared || copies.is_number();
  out.data_parallel = std::max<std::int64_t>(bounded(copies, 1), 1);
  const Json& split = description["disaggregated"];
  out.disaggregated = split.as_bool() || split.as_int() > 1;
  return out;
}

}  // namespace assay::rules
