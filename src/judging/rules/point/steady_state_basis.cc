#include "rules/rule.h"

namespace assay::rules {
namespace {

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

}  // namespace

Rule steady_state_basis() {
  return {.id = "steady-state-basis",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§4.4: Run duration",
          .demand = "the official metrics rest on a steady-state window",
          .fix = "measure longer: ramp and at least 4 super-passes",
          .check = check_steady_state_basis};
}

}  // namespace assay::rules
