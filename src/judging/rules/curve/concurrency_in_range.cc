#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_concurrency_in_range(const Scope& at, Out& out) {
  if (!at.curve->regions || at.point->dedicated()) return out.not_applicable();
  if (!at.curve->region_of(*at.point)) {
    out.error(at.point->point.place("/concurrency"),
              format("concurrency {}", at.point->concurrency),
              format("1 to {}", (*at.curve->regions)[rulebook::Region::margin].last));
  }
}

}  // namespace

Rule concurrency_in_range() {
  return {.id = "concurrency-in-range",
          .group = "curve",
          .level = Level::point,
          .action = Action::flag,
          .clause = "§5.5: Concurrency in range",
          .demand = "a point's concurrency is at most the margin's end",
          .fix = "measure it at C_max or below, or declare a higher C_max",
          .check = check_concurrency_in_range};
}

}  // namespace assay::rules
