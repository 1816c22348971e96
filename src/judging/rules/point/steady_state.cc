#include <initializer_list>

#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_steady_state_valid(const Scope& at, Out& out) {
  const auto judge = [&](std::string_view pointer, std::initializer_list<std::string_view> words) {
    const Json& value = at.point->point.at(pointer);
    if (value.is_null()) return;
    std::string all;
    for (const std::string_view word : words) {
      if (value.as_string() == word) return;
      all += (all.empty() ? "" : ", ") + std::string(word);
    }
    out.error(at.point->point.place(pointer), format("{} is {}", spoken(pointer), said(value)),
              all);
  };
  judge("/steady_state/status",
        {"windowable", "insufficient_duration", "insufficient_passes", "partial_dataset"});
  judge("/steady_state/verdict",
        {"STEADY STATE", "drifting_up", "drifting_down", "anomaly", "not found"});
  for (const auto& [metric, ignored] : at.point->point.at("/steady_state/state").members()) {
    judge(pointer_to("/steady_state/state", metric), {"Plateau", "Drifting Up", "Drifting Down"});
  }
}

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

void check_steady_state_basis(const Scope& at, Out& out) {
  if (at.point->dedicated() || at.curve->agentic) return out.not_applicable();
  const Json& block = at.point->point.at("/steady_state");
  const std::string_view status = block["status"].as_string();
  const std::string_view verdict = block["verdict"].as_string();
  const Place where = at.point->point.place("/steady_state/status");
  if (block.is_null()) {
    out.warning(where, "no steady_state block: the whole run counts", "status, verdict and window");
  } else if (status.starts_with("insufficient") || status == "partial_dataset") {
    out.warning(where, format("status {}: the whole run counts", status), "windowable");
  } else if (verdict.starts_with("drifting") || verdict == "not found") {
    out.warning(at.point->point.place("/steady_state/verdict"), format("verdict {}", verdict),
                "STEADY STATE");
  } else if (verdict == "anomaly") {
    out.info(at.point->point.place("/steady_state/verdict"),
             "a change-point: the first plateau counts", "the shift disclosed");
  }
}

constexpr Rule kSteadyStateRules[] = {
    {.id = "steady-state-valid",
     .needs = Needs::usable_point,
     .action = Action::flag,
     .clause = "§4.4: Run duration",
     .demand = "the steady_state block uses the rules' words",
     .fix = "status: windowable, insufficient_duration, insufficient_passes, partial_dataset",
     .check = check_steady_state_valid},
    {.id = "steady-state-consistency",
     .needs = Needs::usable_point,
     .action = Action::flag,
     .clause = "§4.4: Run duration",
     .demand = "a windowable point has 4 super-passes and no drifting metric",
     .fix = "let `assay curve` write the block from the recorded events",
     .check = check_steady_state_consistency},
    {.id = "steady-state-basis",
     .needs = Needs::usable_point,
     .severity = Severity::warning,
     .action = Action::flag,
     .clause = "§4.4: Run duration",
     .demand = "the official metrics rest on a steady-state window",
     .fix = "measure longer: ramp and at least 4 super-passes",
     .check = check_steady_state_basis},
};

}  // namespace

std::span<const Rule> steady_state_rules() { return kSteadyStateRules; }

}  // namespace assay::rules
