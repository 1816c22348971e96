#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_warmup_salt(const Scope& at, Out& out) {
  if (at.point->point.at("/runtime_settings/warmup/salt").as_bool()) {
    out.warning(at.point->point.place("/runtime_settings/warmup/salt"), "warm-up is salted",
                "no salt, or the reason in model_notes");
  }
}

}  // namespace

Rule warmup_salt() {
  return {.id = "warmup-salt",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§6.3.3: Warmup metadata",
          .demand = "warm-up needs no salt, because it uses no performance data",
          .fix = "explain why warm-up is salted; if it uses performance samples, measure again",
          .check = check_warmup_salt};
}

}  // namespace assay::rules
