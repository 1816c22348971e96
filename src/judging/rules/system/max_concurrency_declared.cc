#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_max_concurrency_declared(const Scope& at, Out& out) {
  if (!at.curve->c_max) return out.not_applicable();
  out.info({at.curve->path}, format("C_max is {}", *at.curve->c_max));
  for (const PointFolder& point : at.curve->points) {
    const Json& stated = point.point.at("/max_supported_concurrency");
    if (point.usable() && stated.is_number() && stated.as_int() != *at.curve->c_max) {
      out.warning(point.point.place("/max_supported_concurrency"),
                  format("max_supported_concurrency is {}", stated.dump()),
                  format("{}, as in system_desc.json", *at.curve->c_max));
    }
  }
}

}  // namespace

Rule max_concurrency_declared() {
  return {.id = "max-concurrency-declared",
          .level = Level::curve,
          .severity = Severity::warning,
          .action = Action::reject_submission,
          .clause = "§5.5: Max concurrency",
          .demand = "every point and the description declare the same C_max",
          .fix = "one max_supported_concurrency for the system",
          .check = check_max_concurrency_declared};
}

}  // namespace assay::rules
