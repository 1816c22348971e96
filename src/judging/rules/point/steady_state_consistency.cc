#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_steady_state_consistency(const Scope& at, Out& out) {
  const Json& block = at.point->point.at("/steady_state");
  const Json& first = block["window"]["super_pass_start"];
  const Json& last = block["window"]["super_pass_end"];
  if (!first.is_number() || !last.is_number()) return out.not_applicable();
  const std::int64_t passes = last.as_int() - first.as_int() + 1;
  const std::string_view status = block["status"].as_string();
  const std::int64_t least = at.tree.edition.super_passes_min;
  const Place where = at.point->point.place("/steady_state/window/super_pass_end");
  if (status == "windowable" && passes < least) {
    out.error(where, format("windowable with {} super-passes", passes),
              format("{} or more", least));
  }
  if (status == "insufficient_passes" && passes >= least) {
    out.error(where, format("insufficient_passes with {} super-passes", passes),
              format("fewer than {}", least));
  }
  for (const auto& [metric, state] : block["state"].members()) {
    if (status == "windowable" && state.as_string().starts_with("Drifting")) {
      out.error(at.point->point.place(pointer_to("/steady_state/state", metric)),
                format("windowable, and {} is {}", metric, said(state)),
                "Plateau for every metric");
    }
  }
}

}  // namespace

Rule steady_state_consistency() {
  return {.id = "steady-state-consistency",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::flag,
          .clause = "§4.4: Run duration",
          .demand = "a windowable point has 4 super-passes and no drifting metric",
          .fix = "let `assay curve` write the block from the recorded events",
          .check = check_steady_state_consistency};
}

}  // namespace assay::rules
