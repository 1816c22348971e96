#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_offline_declared(const Scope& at, Out& out) {
  if (at.point->offline == Offline::unknown) {
    out.error(at.point->point.place("/offline"),
              format("offline is {}", said(at.point->point.at("/offline"))),
              "dedicated, elected or none");
  }
}

}  // namespace

Rule offline_declared() {
  return {.id = "offline-declared",
          .group = "curve",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§5.7: Offline present",
          .demand = "offline is dedicated, elected or none",
          .fix = "dedicated for a run of its own, elected on the point at C_max, else leave it out",
          .check = check_offline_declared};
}

}  // namespace assay::rules
