#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_seed_set_registry(const Scope& at, Out& out) {
  if (!at.tree.seed_list_trouble.empty())
    out.warning({}, at.tree.seed_list_trouble, "a list of seed sets");
}

}  // namespace

Rule seed_set_registry() {
  return {.id = "seed-set-registry",
          .group = "seeds",
          .level = Level::tree,
          .severity = Severity::warning,
          .clause = "§4.6: Seed-set validity",
          .demand = "the list of seed sets can be read",
          .fix = "give the path of a seedset.yaml; without it the rules on seeds are not asked",
          .check = check_seed_set_registry};
}

}  // namespace assay::rules
