#include "rules/rule.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

void check_seed_set_adoption(const Scope& at, Out& out) {
  const rulebook::SeedSet* set = seed_set_of(at);
  const auto target = rulebook::Cohort::parse(at.point->point.at("/target_cohort").as_string());
  if (set == nullptr || !target) return out.not_applicable();
  const Place where = at.point->point.place("/target_cohort");
  if (!set->cohort) {
    out.info(where, format("the list gives set {} no cohort", set->id));
    return;
  }
  const int last = set->cohort->number + at.tree.edition.seed_adoption_cohorts - 1;
  if (target->number < set->cohort->number || target->number > last) {
    out.error(where, format("set {} for {}", set->id, target->text()),
              format("{} to {}", set->cohort->text(), rulebook::Cohort{last}.text()));
  }
}

}  // namespace

Rule seed_set_adoption() {
  return {.id = "seed-set-adoption",
          .group = "seeds",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§4.6: Seed-set validity",
          .demand = "the target cohort is one of the four for which the set may be adopted",
          .fix = "take the newest set, or an earlier cohort",
          .check = check_seed_set_adoption};
}

}  // namespace assay::rules
