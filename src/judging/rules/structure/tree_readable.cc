#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_tree_readable(const Scope& at, Out& out) {
  for (const Finding& trouble : at.tree.troubles) {
    out.error(trouble.where, trouble.found, trouble.expected, trouble.fix);
  }
}

}  // namespace

Rule tree_readable() {
  return {.id = "tree-readable",
          .group = "structure",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "everything in the tree can be read and lies inside it",
          .fix = "copy what a link points at into the tree",
          .check = check_tree_readable};
}

}  // namespace assay::rules
