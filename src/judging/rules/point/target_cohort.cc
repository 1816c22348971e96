#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_target_cohort(const Scope& at, Out& out) {
  const Json& cohort = at.point->point.at("/target_cohort");
  if (!cohort.is_string()) return out.not_applicable();
  if (!rulebook::Cohort::parse(cohort.as_string())) {
    out.error(at.point->point.place("/target_cohort"), format("target_cohort is {}", said(cohort)),
              "such as 2026-11-C0");
  }
}

}  // namespace

Rule target_cohort() {
  return {.id = "target-cohort",
          .needs = Needs::usable_point,
          .action = Action::flag,
          .clause = "§4.6: Seed-set validity",
          .demand = "target_cohort is a cohort: YYYY-MM-C0 or YYYY-MM-C1",
          .fix = "C0 is the month's first Wednesday, C1 its third",
          .check = check_target_cohort};
}

}  // namespace assay::rules
