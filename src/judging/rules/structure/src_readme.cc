#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_src_readme(const Scope& at, Out& out) {
  for (const Implementation& one : at.tree.implementations) {
    if (!one.readme) out.error({one.path}, "no README.md", one.path + "/README.md");
  }
}

}  // namespace

Rule src_readme() {
  return {.id = "src-readme",
          .group = "structure",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "each implementation explains itself in a README.md",
          .fix = "write how to build and launch it",
          .check = check_src_readme};
}

}  // namespace assay::rules
