#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_drafter_list_registry(const Scope& at, Out& out) {
  if (!at.tree.drafter_list_trouble.empty())
    out.warning({}, at.tree.drafter_list_trouble, "a list of drafters");
}

}  // namespace

Rule drafter_list_registry() {
  return {.id = "drafter-list-registry",
          .group = "seeds",
          .level = Level::tree,
          .severity = Severity::warning,
          .clause = "§2.9.4: Approved drafter",
          .demand = "the list of approved drafters can be read",
          .fix =
              "give the path of an approved_drafters.yaml; without it the rules on drafters are "
              "not asked",
          .check = check_drafter_list_registry};
}

}  // namespace assay::rules
