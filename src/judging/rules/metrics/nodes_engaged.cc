#include <map>
#include <string>
#include <utility>

#include "rules/catalogue.h"
#include "rules/metrics/engagement.h"

namespace assay::rules {
namespace {

void check_nodes_used(const Scope& at, Out& out) {
  const Json& used = at.point->point.at("/nodes_used");
  if (used.size() == 0) return out.not_applicable();
  const Engagement engaged = engagement_of(at);
  std::map<std::int64_t, std::int64_t> named;  // nodes, by ensemble
  bool good = true;
  const auto refuse = [&](std::string_view pointer, std::string found, std::string expected) {
    good = false;
    out.error(at.point->point.place(pointer), std::move(found), std::move(expected));
  };
  for (std::size_t i = 0; i < used.size(); ++i) {
    const std::string pointer = pointer_to("/nodes_used", i);
    const Json& id = used[i]["system_node_ensemble_id"];
    const auto sets = engaged.find(id);
    if (sets.size() != 1) {
      refuse(pointer,
             sets.empty() ? format("ensemble {} is in no {}", said(id),
                                   engaged.of_power_file ? "node set of system_power.json"
                                                         : "node type of system_desc.json")
                          : format("ensemble {} is that of {} node sets", said(id), sets.size()),
             "an ensemble of exactly one node set");
      continue;
    }
    const std::int64_t declared = used[i]["nodes"].as_int();
    if (!named.emplace(sets.front()->ensemble, declared).second) {
      refuse(pointer, format("ensemble {} twice", sets.front()->ensemble), "each once");
    }
    if (declared < 1 || declared > sets.front()->nodes) {
      refuse(pointer + "/nodes",
             format("{} nodes of ensemble {}", declared, sets.front()->ensemble),
             format("1 to {}", sets.front()->nodes));
    }
  }
  if (!good || !engaged.known() || engaged.disaggregated) return;
  // A set that is not named counts as used as a whole.
  std::int64_t accelerators = 0;
  for (const EngagedNodes& set : engaged.sets) {
    const auto found = named.find(set.ensemble);
    accelerators += (found == named.end() ? set.nodes : found->second) * set.accelerators;
  }
  const Place where = at.point->point.place("/nodes_used");
  if (accelerators < engaged.used()) {
    out.error(
        where, format("{} accelerators on the nodes declared", accelerators),
        format("{}: DP {} of {} each", engaged.used(), engaged.data_parallel, engaged.replica));
    return;
  }
  if (engaged.sets.size() != 1 || engaged.sets.front().accelerators == 0) return;
  const std::int64_t per_node = engaged.sets.front().accelerators;
  const std::int64_t needed = (engaged.used() + per_node - 1) / per_node;
  const std::int64_t nodes = named.begin()->second;
  if (nodes > needed) {
    out.warning(where, format("{} nodes for {} accelerators", nodes, engaged.used()),
                format("{}", needed));
  }
}

void check_maximal_engagement(const Scope& at, Out& out) {
  if (!at.point->description.good()) return out.not_applicable();
  const Engagement engaged = engagement_of(at);
  const Document& description = at.point->description;
  if (engaged.accelerators == 0) {
    out.warning(description.place("/node_types"), "the accelerators of a node are not known",
                "accelerators_per_node");
    return;
  }
  if (engaged.disaggregated) {
    out.warning(description.place("/disaggregated"), "disaggregated serving: left to the reviewers",
                "a description in config_summary");
    return;
  }
  if (!engaged.declared) {
    out.warning(description.place(), "no parallelism declared",
                "tensor_parallel, pipeline_parallel, expert_parallel, data_parallel");
    return;
  }
  for (const std::string_view name :
       {"tensor_parallel", "pipeline_parallel", "expert_parallel", "data_parallel"}) {
    const Json& value = description.at(pointer_to("", name));
    if (!value.is_number() || value.as_int() >= 1) continue;
    out.error(description.place(pointer_to("", name)), format("{} is {}", name, value.dump()),
              "1 or more");
    return;
  }
  const std::int64_t fits = engaged.accelerators / engaged.replica;
  const Json& shortfall = at.point->point.at("/dp_shortfall");
  if (engaged.data_parallel > fits) {
    out.error(description.place("/data_parallel"),
              format("DP {} of {} accelerators each", engaged.data_parallel, engaged.replica),
              format("{} or fewer: the system has {} accelerators", fits, engaged.accelerators));
  } else if (engaged.data_parallel < fits) {
    const bool explained = shortfall["dp_actual"].as_int(-1) == engaged.data_parallel &&
                           shortfall["dp_formula"].as_int(-1) == fits &&
                           !shortfall["reason"].as_string().empty();
    if (explained) {
      out.warning(at.point->point.place("/dp_shortfall"),
                  format("DP {} where {} fit: {}", engaged.data_parallel, fits,
                         shortfall["reason"].as_string()),
                  "every accelerator engaged");
    } else {
      out.error(description.place("/data_parallel"),
                format("DP {} of {} accelerators each", engaged.data_parallel, engaged.replica),
                format("{}, or a dp_shortfall that says why", fits));
    }
  } else if (!shortfall.is_null()) {
    out.warning(at.point->point.place("/dp_shortfall"),
                format("a dp_shortfall where DP {} is all that fits", engaged.data_parallel),
                "none");
  }
}

constexpr Rule kNodesEngagedRules[] = {
    {.id = "nodes-used",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§4.5.3: Per-point node declaration",
     .demand = "nodes_used names nodes that the system has, enough for the accelerators engaged",
     .fix = "list each ensemble once, with 1 to all of its nodes",
     .check = check_nodes_used},
    {.id = "maximal-engagement",
     .needs = Needs::usable_point,
     .action = Action::reject_submission,
     .clause = "§4.5.3: Maximal engagement",
     .demand = "as many replicas as fit are engaged, or dp_shortfall says why not",
     .fix = "raise data_parallel, or declare dp_shortfall {dp_actual, dp_formula, reason}",
     .check = check_maximal_engagement},
};

}  // namespace

std::span<const Rule> nodes_engaged_rules() { return kNodesEngagedRules; }

}  // namespace assay::rules
