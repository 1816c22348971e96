#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_load_pattern(const Scope& at, Out& out) {
  if (at.point->dedicated()) return out.not_applicable();
  if (at.point->load_pattern != "concurrency" && at.point->load_pattern != "agentic_inference") {
    const std::string_view pointer = "/runtime_settings/load_pattern";
    out.error(at.point->point.place(pointer),
              format("load_pattern is {}", said(at.point->point.at(pointer))),
              "concurrency or agentic_inference");
  }
}

}  // namespace

Rule load_pattern() {
  return {.id = "load-pattern",
          .group = "point",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_points,
          .clause = "§6.1: Load pattern",
          .demand =
              "load_pattern is concurrency, or agentic_inference; only a dedicated Offline point "
              "is free",
          .fix = "measure with a fixed number of queries in flight",
          .check = check_load_pattern};
}

}  // namespace assay::rules
