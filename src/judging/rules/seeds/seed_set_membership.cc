#include "rules/rule.h"
#include "rules/seeds/declared.h"

namespace assay::rules {
namespace {

void check_seed_set_membership(const Scope& at, Out& out) {
  const Json& id = at.point->point.at("/seed_set");
  if (id.is_null() || !at.tree.seed_list_trouble.empty() || at.tree.edition.seed_sets.empty()) {
    return out.not_applicable();
  }
  if (seed_set_of(at) != nullptr) return;
  std::string all;
  for (const rulebook::SeedSet& set : at.tree.edition.seed_sets)
    all += (all.empty() ? "" : ", ") + set.id;
  out.error(at.point->point.place("/seed_set"), format("seed_set is {}", said(id)),
            "one of " + all);
}

}  // namespace

Rule seed_set_membership() {
  return {.id = "seed-set-membership",
          .group = "seeds",
          .level = Level::point,
          .needs = Needs::usable_point,
          .action = Action::reject_submission,
          .clause = "§4.6: Seed-set validity",
          .demand = "seed_set is a published one",
          .fix = "use the set of the cohort; seedset.yaml lists them",
          .check = check_seed_set_membership};
}

}  // namespace assay::rules
