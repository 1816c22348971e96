#include <algorithm>
#include <set>

#include "rules/metrics/engagement.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_nodes_used(const Scope& at, Out& out) {
  const Json& used = at.point->point.at("/nodes_used");
  if (used.size() == 0) return out.not_applicable();
  const Engagement engaged = engagement_of(at);
  std::set<std::int64_t> seen;
  std::int64_t accelerators = 0;
  std::int64_t per_node = 0;
  std::int64_t nodes = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string pointer = pointer_to("/nodes_used", i);
    const NodeType* type = engaged.find(used[i]["system_node_ensemble_id"]);
    const std::int64_t declared = used[i]["nodes"].as_int();
    if (type == nullptr) {
      out.error(at.point->point.place(pointer),
                format("ensemble {} is not in system_desc.json",
                       said(used[i]["system_node_ensemble_id"])),
                "a system_node_ensemble_id of its node_types");
      continue;
    }
    if (!seen.insert(type->ensemble).second) {
      out.error(at.point->point.place(pointer), format("ensemble {} twice", type->ensemble),
                "each once");
    }
    if (declared < 1 || declared > type->nodes) {
      out.error(at.point->point.place(pointer + "/nodes"),
                format("{} nodes of ensemble {}", declared, type->ensemble),
                format("1 to {}", type->nodes));
    }
    // Numbers out of bounds must not overflow.
    const std::int64_t bounded = std::clamp<std::int64_t>(declared, 0, type->nodes);
    accelerators += bounded * type->accelerators;
    nodes += bounded;
    per_node = std::max(per_node, type->accelerators);
  }
  if (!engaged.known() || engaged.disaggregated || per_node == 0) return;
  const Place where = at.point->point.place("/nodes_used");
  if (accelerators < engaged.used()) {
    out.error(
        where, format("{} accelerators on the nodes declared", accelerators),
        format("{}: DP {} of {} each", engaged.used(), engaged.data_parallel, engaged.replica));
  } else if (seen.size() == 1 && nodes > (engaged.used() + per_node - 1) / per_node) {
    out.warning(where, format("{} nodes for {} accelerators", nodes, engaged.used()),
                format("{}", (engaged.used() + per_node - 1) / per_node));
  }
}

}  // namespace

Rule nodes_used() {
  return {
      .id = "nodes-used",
      .group = "metrics",
      .level = Level::point,
      .needs = Needs::usable_point,
      .action = Action::reject_submission,
      .clause = "§4.5.3: Per-point node declaration",
      .demand = "nodes_used names nodes that the system has, enough for the accelerators engaged",
      .fix = "list each ensemble once, with 1 to all of its nodes",
      .check = check_nodes_used};
}

}  // namespace assay::rules
