#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_seed_set_consistency(const Scope& at, Out& out) {
  const PointFolder* first = nullptr;
  for (const System& system : at.tree.systems) {
    for (const Curve& curve : system.curves) {
      for (const PointFolder& point : curve.points) {
        const Json& set = point.point.at("/seed_set");
        if (!point.usable() || set.is_null()) continue;
        if (first == nullptr) first = &point;
        if (set == first->point.at("/seed_set")) continue;
        out.error(point.point.place("/seed_set"), format("seed_set is {}", said(set)),
                  format("{}, as in {}", said(first->point.at("/seed_set")), first->path));
      }
    }
  }
}

}  // namespace

Rule seed_set_consistency() {
  return {.id = "seed-set-consistency",
          .group = "seeds",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§4.6: Seed-set validity",
          .demand = "one seed set for the whole submission",
          .fix = "measure again the points of the other set",
          .check = check_seed_set_consistency};
}

}  // namespace assay::rules
