#include "base/format.h"
#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_path_exists(const Scope& at, Out& out) {
  if (at.tree.exists) return;
  out.error({}, format("no such folder: {}", at.tree.root.string()), "the folder of a submission");
}

}  // namespace

Rule path_exists() {
  return {.id = "path-exists",
          .group = "structure",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "the path is a folder",
          .fix = "give the folder that holds results/, docs/ and src/",
          .check = check_path_exists};
}

}  // namespace assay::rules
