#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_agentic_accuracy(const Scope& at, Out& out) {
  if (!at.curve->agentic) return out.not_applicable();
  if (at.curve->benchmark == nullptr || !at.curve->benchmark->agentic) {
    out.warning({at.curve->path},
                format("an agentic curve of {}, which has no agentic thresholds", at.curve->model),
                "an agentic benchmark");
  }
}

}  // namespace

Rule agentic_accuracy() {
  return {.id = "agentic-accuracy",
          .group = "accuracy",
          .level = Level::curve,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§3.2: Accuracy",
          .demand = "an agentic curve is of an agentic benchmark",
          .fix = "use one of the agentic models",
          .check = check_agentic_accuracy};
}

}  // namespace assay::rules
