#include "base/format.h"
#include "rules/catalogue.h"

namespace assay::rules {
namespace {

void check_path_exists(const Scope& at, Out& out) {
  if (at.tree.exists) return;
  out.error({}, format("no such folder: {}", at.tree.root.string()), "the folder of a submission");
}

void check_tree_readable(const Scope& at, Out& out) {
  for (const Finding& trouble : at.tree.troubles) {
    out.error(trouble.where, trouble.found, trouble.expected, trouble.fix);
  }
}

void check_required_dir(const Scope& at, Out& out) {
  if (!at.tree.has_results)
    out.error({"results"}, "no folder results/", "results/<system>/<model>/r<N>/");
  if (!at.tree.has_docs)
    out.error({"docs"}, "no folder docs/", "docs/ with the software disclosure");
}

void check_src_dir(const Scope& at, Out& out) {
  if (!at.tree.has_src) {
    out.error({"src"}, "no folder src/", "src/<implementation>/");
  } else if (at.tree.implementations.empty()) {
    out.error({"src"}, "src/ has no folder in it", "src/<implementation>/");
  }
}

void check_src_readme(const Scope& at, Out& out) {
  for (const Implementation& one : at.tree.implementations) {
    if (!one.readme) out.error({one.path}, "no README.md", one.path + "/README.md");
  }
}

void check_system_results_dir(const Scope& at, Out& out) {
  if (at.tree.has_results && at.tree.systems.empty()) {
    out.error({"results"}, "results/ has no system in it", "results/<system>/");
  }
}

constexpr Rule kTreeFolderRules[] = {
    {.id = "path-exists",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "the path is a folder",
     .fix = "give the folder that holds results/, docs/ and src/",
     .check = check_path_exists},
    {.id = "tree-readable",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "everything in the tree can be read and lies inside it",
     .fix = "copy what a link points at into the tree",
     .check = check_tree_readable},
    {.id = "required-dir",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "results/ and docs/ exist",
     .fix = "make the folder; `assay pack` writes the whole tree",
     .check = check_required_dir},
    {.id = "src-dir",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "src/ holds at least one implementation",
     .fix = "put the code and scripts into src/<implementation>/",
     .check = check_src_dir},
    {.id = "src-readme",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "each implementation explains itself in a README.md",
     .fix = "write how to build and launch it",
     .check = check_src_readme},
    {.id = "system-results-dir",
     .level = Level::tree,
     .action = Action::reject_submission,
     .clause = "§8.1: Submission completeness",
     .demand = "results/ holds at least one system",
     .fix = "results/<system_name with _ for spaces>/",
     .check = check_system_results_dir},
};

}  // namespace

std::span<const Rule> tree_folder_rules() { return kTreeFolderRules; }

}  // namespace assay::rules
