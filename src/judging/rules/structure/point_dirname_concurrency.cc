#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_point_dirname_concurrency(const Scope& at, Out& out) {
  if (at.point->concurrency != at.point->named_concurrency) {
    out.warning(at.point->point.place("/concurrency"),
                format("concurrency {} in a folder {}", at.point->concurrency, at.point->name),
                format("r{}", at.point->concurrency));
  }
}

}  // namespace

Rule point_dirname_concurrency() {
  return {.id = "point-dirname-concurrency",
          .group = "structure",
          .level = Level::point,
          .needs = Needs::usable_point,
          .severity = Severity::warning,
          .action = Action::flag,
          .clause = "§8.1: Submission completeness",
          .demand = "the folder r<N> is named by the point's concurrency",
          .fix = "rename the folder",
          .check = check_point_dirname_concurrency};
}

}  // namespace assay::rules
