#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_required_dir(const Scope& at, Out& out) {
  if (!at.tree.has_results)
    out.error({"results"}, "no folder results/", "results/<system>/<model>/r<N>/");
  if (!at.tree.has_docs)
    out.error({"docs"}, "no folder docs/", "docs/ with the software disclosure");
}

}  // namespace

Rule required_dir() {
  return {.id = "required-dir",
          .group = "structure",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "results/ and docs/ exist",
          .fix = "make the folder; `assay pack` writes the whole tree",
          .check = check_required_dir};
}

}  // namespace assay::rules
