#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_agentic_osl_range(const Scope& at, Out& out) {
  if (!at.curve->agentic || at.curve->benchmark == nullptr || !at.curve->benchmark->agentic)
    return out.not_applicable();
  const std::string_view pointer = "/output_sequence_lengths_full_run/output_sequence_lengths/avg";
  const Json& mean = at.point->summary.at(pointer);
  const rulebook::AgenticGate& gate = at.curve->benchmark->agentic_gate;
  if (!mean.is_number()) {
    out.warning(at.point->summary.place(pointer), "no mean output length of the full run",
                std::string(spoken(pointer)));
  } else if (mean.as_double() < gate.osl_min || mean.as_double() > gate.osl_max) {
    out.error(at.point->summary.place(pointer), format("{} tokens a turn", mean.dump()),
              format("{} to {}", gate.osl_min, gate.osl_max));
  }
}

}  // namespace

Rule agentic_osl_range() {
  return {
      .id = "agentic-osl-range",
      .group = "accuracy",
      .level = Level::point,
      .needs = Needs::measured_point,
      .action = Action::reject_submission,
      .clause = "§4.3: Accuracy",
      .demand = "the mean output length a turn, over the full run, lies in the benchmark's range",
      .fix = "look into the chat template and the sampling settings",
      .check = check_agentic_osl_range};
}

}  // namespace assay::rules
