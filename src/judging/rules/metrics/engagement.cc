#include "rules/metrics/engagement.h"

#include <algorithm>

#include "base/text.h"

namespace assay::rules {
namespace {

// Limit for factors, so that their products do not overflow.
constexpr std::int64_t kMost = 100'000;

std::int64_t bounded(const Json& value, std::int64_t fallback) {
  return std::clamp<std::int64_t>(value.as_int(fallback), 0, kMost);
}

std::int64_t ensemble_id(const Json& id) {
  const auto text = parse_int(id.as_string());
  return id.as_int(text ? *text : -1);
}

// Counts the nodes of this kind in system_power.json's sets, if it has them.
std::int64_t provisioned(const rulebook::Power& power, const NodeType& type) {
  std::int64_t nodes = 0;
  for (const rulebook::NodeSetPower& set : power.sets) {
    if (set.ensemble == type.ensemble) nodes += std::clamp<std::int64_t>(set.nodes, 0, kMost);
  }
  return nodes > 0 ? nodes : type.nodes;
}

}  // namespace

const NodeType* Engagement::find(const Json& id) const {
  const auto found = std::ranges::find(types, ensemble_id(id), &NodeType::ensemble);
  return found == types.end() ? nullptr : &*found;
}

Engagement engagement_of(const Scope& at) {
  Engagement out;
  const Json& description = at.point->description.root();
  for (const Json& type : description["node_types"].items()) {
    NodeType one{.ensemble = ensemble_id(type["system_node_ensemble_id"]),
                 .nodes = bounded(type["number_of_nodes"], 0)};
    for (const Json& accelerator : type["accelerator_info"].items()) {
      one.accelerators += bounded(accelerator["accelerators_per_node"], 0);
    }
    if (at.system->power) one.nodes = provisioned(*at.system->power, one);
    out.accelerators += one.nodes * one.accelerators;
    out.types.push_back(one);
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
