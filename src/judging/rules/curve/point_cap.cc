#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_cap(const Scope& at, Out& out) {
  if (static_cast<std::int64_t>(at.curve->points.size()) > at.tree.edition.points_max) {
    out.error({at.curve->path}, format("{} points", at.curve->points.size()),
              format("{} or fewer", at.tree.edition.points_max));
  }
}

}  // namespace

Rule point_cap() {
  return {.id = "point-cap",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_points,
          .clause = "§5.3: Point cap",
          .demand = "at most 32 points, Offline included",
          .fix = "leave the least telling points out",
          .check = check_point_cap};
}

}  // namespace assay::rules
