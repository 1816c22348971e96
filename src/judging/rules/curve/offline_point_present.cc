#include <vector>

#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_offline_point_present(const Scope& at, Out& out) {
  std::vector<const PointFolder*> found;
  bool unclear = false;
  for (const PointFolder& point : at.curve->points) {
    if (point.offline == Offline::dedicated || point.offline == Offline::elected)
      found.push_back(&point);
    unclear = unclear || point.offline == Offline::unknown || !point.usable();
  }
  if (at.curve->agentic) {
    for (const PointFolder* point : found) {
      out.error(point->point.place("/offline"), "an Offline point on an agentic curve", "none");
    }
    return;
  }
  // An unreadable declaration could mean any kind; its own rule reports it.
  if (found.empty() && !unclear) {
    out.error({at.curve->path}, "no Offline point", "one, dedicated or elected");
  }
  for (std::size_t i = 1; i < found.size(); ++i) {
    out.error(found[i]->point.place("/offline"),
              format("a second Offline point, beside {}", found[0]->name), "exactly one");
  }
  for (const PointFolder* point : found) {
    if (point->offline == Offline::elected && at.curve->c_max &&
        point->concurrency != *at.curve->c_max) {
      out.error(point->point.place("/offline"),
                format("elected at concurrency {}", point->concurrency),
                format("the point at C_max, {}", *at.curve->c_max));
    }
  }
}

}  // namespace

Rule offline_point_present() {
  return {.id = "offline-point-present",
          .group = "curve",
          .level = Level::curve,
          .action = Action::reject_submission,
          .clause = "§5.7: Offline present",
          .demand = "a single-turn curve has exactly one Offline point, an agentic one none",
          .fix = "elect the point at C_max (offline: elected), or measure a dedicated one",
          .check = check_offline_point_present};
}

}  // namespace assay::rules
