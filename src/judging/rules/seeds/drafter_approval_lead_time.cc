#include "rules/rule.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

void check_drafter_approval_lead_time(const Scope& at, Out& out) {
  const Speculation used = speculation_of(at);
  if (used.approved == nullptr) return out.not_applicable();
  const auto target = rulebook::Cohort::parse(at.point->point.at("/target_cohort").as_string());
  const Place where = at.point->point.place(used.pointer);
  if (!target || !used.approved->approved) {
    out.warning(where, "the lead time can't be worked out: a cohort is missing",
                "target_cohort and approved_cohort");
    return;
  }
  const int lead = target->number - used.approved->approved->number;
  if (lead < at.tree.edition.drafter_lead_cohorts) {
    out.error(where,
              format("{} approved in {}, {} cohorts before", used.approved->model_id,
                     used.approved->approved->text(), lead),
              format("{} or more before {}", at.tree.edition.drafter_lead_cohorts, target->text()));
  }
}

}  // namespace

Rule drafter_approval_lead_time() {
  return {.id = "drafter-approval-lead-time",
          .group = "seeds",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_points,
          .clause = "§2.9.4: Drafter lead time",
          .demand = "the drafter was approved two cohorts before the target",
          .fix = "take a later cohort, or another drafter",
          .check = check_drafter_approval_lead_time};
}

}  // namespace assay::rules
