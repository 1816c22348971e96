#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_agentic_settings(const Scope& at, Out& out) {
  if (at.point->load_pattern != "agentic_inference") return out.not_applicable();
  const std::string base = "/runtime_settings/agentic_inference";
  const Json& block = at.point->point.at(base);
  if (!block.is_object()) {
    out.warning(at.point->point.place("/runtime_settings"), "no agentic_inference block",
                "its four settings");
    return;
  }
  const auto wants = [&](std::string_view name, bool wanted) {
    if (block[name].as_bool(wanted) == wanted) return;
    out.error(at.point->point.place(pointer_to(base, name)),
              format("{} is {}", name, block[name].dump()), wanted ? "true" : "false");
  };
  wants("enable_salt", true);
  wants("inject_tool_delay", true);
  wants("stop_issuing_on_first_user_complete", false);
  const Json& number = block["num_trajectories_to_issue"];
  if (number.is_number() && number.as_int() % at.tree.edition.trajectories != 0) {
    out.error(at.point->point.place(base + "/num_trajectories_to_issue"),
              format("{} trajectories", number.dump()),
              format("a multiple of {}", at.tree.edition.trajectories));
  }
}

}  // namespace

Rule agentic_settings() {
  return {.id = "agentic-settings",
          .needs = Needs::usable_point,
          .action = Action::reject_points,
          .clause = "§3.2: Agentic client settings",
          .demand = "salt and tool delays on, no early stop, whole multiples of 613 trajectories",
          .fix = "measure again with the benchmark's settings",
          .check = check_agentic_settings};
}

}  // namespace assay::rules
