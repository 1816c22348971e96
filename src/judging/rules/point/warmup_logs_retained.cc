#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_warmup_logs_retained(const Scope& at, Out& out) {
  const Json& warmup = at.point->point.at("/warmup");
  bool any = false;
  for (const std::string_view name : {"duration_s", "requests_issued", "requests_completed"}) {
    any = any || warmup[name].as_double() > 0;
  }
  if (!any) return out.not_applicable();  // declares that there was no warm-up
  if (!warmup["logs_retained"].as_bool()) {
    out.warning(at.point->point.place("/warmup/logs_retained"),
                format("{} warm-up requests, logs not retained", warmup["requests_issued"].dump()),
                "logs_retained: true");
  }
}

}  // namespace

Rule warmup_logs_retained() {
  return {.id = "warmup-logs-retained",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§6.3.2: Warmup logs",
          .demand = "the logs of warm-up requests are kept for reviewers",
          .fix = "set logs_retained: true, and keep them",
          .check = check_warmup_logs_retained};
}

}  // namespace assay::rules
