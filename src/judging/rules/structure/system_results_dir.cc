#include "rules/rule.h"

namespace assay::rules {
namespace {

void check_system_results_dir(const Scope& at, Out& out) {
  if (at.tree.has_results && at.tree.systems.empty()) {
    out.error({"results"}, "results/ has no system in it", "results/<system>/");
  }
}

}  // namespace

Rule system_results_dir() {
  return {.id = "system-results-dir",
          .group = "structure",
          .level = Level::tree,
          .action = Action::reject_submission,
          .clause = "§8.1: Submission completeness",
          .demand = "results/ holds at least one system",
          .fix = "results/<system_name with _ for spaces>/",
          .check = check_system_results_dir};
}

}  // namespace assay::rules
