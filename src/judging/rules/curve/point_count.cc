#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_count(const Scope& at, Out& out) {
  const PointFolder* offline = at.curve->offline_point();
  const bool dedicated = offline != nullptr && offline->dedicated();
  const std::int64_t least = at.tree.edition.points_min + (dedicated ? 1 : 0);
  if (static_cast<std::int64_t>(at.curve->points.size()) < least) {
    out.error({at.curve->path}, format("{} points", at.curve->points.size()),
              format("{} or more", least));
  }
}

}  // namespace

Rule point_count() {
  return {.id = "point-count",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.3: Point count",
          .demand = "at least 8 points with a dedicated Offline point, else 7",
          .fix = "measure more; points cannot be added after submitting",
          .check = check_point_count};
}

}  // namespace assay::rules
