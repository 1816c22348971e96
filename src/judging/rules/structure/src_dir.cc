#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_src_dir(const Scope& at, Out& out) {
  if (!at.tree.has_src) {
    out.error({"src"}, "no folder src/", "src/<implementation>/");
  } else if (at.tree.implementations.empty()) {
    out.error({"src"}, "src/ has no folder in it", "src/<implementation>/");
  }
}

}  // namespace

Rule src_dir() {
  return {.id = "src-dir",
          .group = "structure",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "src/ holds at least one implementation",
          .fix = "put the code and scripts into src/<implementation>/",
          .check = check_src_dir};
}

}  // namespace assay::rules
