#include "rules/catalogue.h"

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

void check_point_cap(const Scope& at, Out& out) {
  if (static_cast<std::int64_t>(at.curve->points.size()) > at.tree.edition.points_max) {
    out.error({at.curve->path}, format("{} points", at.curve->points.size()),
              format("{} or fewer", at.tree.edition.points_max));
  }
}

constexpr Rule kPointCountRules[] = {
    {.id = "point-count",
     .level = Level::curve,
     .action = Action::reject_submission,
     .clause = "§5.3: Point count",
     .demand = "at least 8 points with a dedicated Offline point, else 7",
     .fix = "measure more; points cannot be added after submitting",
     .check = check_point_count},
    {.id = "point-cap",
     .level = Level::curve,
     .action = Action::reject_points,
     .clause = "§5.3: Point cap",
     .demand = "at most 32 points, Offline included",
     .fix = "leave the least telling points out",
     .check = check_point_cap},
};

}  // namespace

std::span<const Rule> point_count_rules() { return kPointCountRules; }

}  // namespace assay::rules
