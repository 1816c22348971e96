#include "rules/metrics/engagement.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule maximal_engagement() {
  return {.id = "maximal-engagement",
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§4.5.3: Maximal engagement",
          .demand = "as many replicas as fit are engaged, or dp_shortfall says why not",
          .fix = "raise data_parallel, or declare dp_shortfall {dp_actual, dp_formula, reason}",
          .check = check_maximal_engagement};
}

}  // namespace assay::rules
