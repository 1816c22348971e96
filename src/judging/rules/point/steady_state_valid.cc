#include <initializer_list>

#include "rules/rule.h"

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

}  // namespace

Rule steady_state_valid() {
  return {.id = "steady-state-valid",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::flag,
          .clause = "§4.4: Run duration",
          .demand = "the steady_state block uses the rules' words",
          .fix = "status: windowable, insufficient_duration, insufficient_passes, partial_dataset",
          .check = check_steady_state_valid};
}

}  // namespace assay::rules
