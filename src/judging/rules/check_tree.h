// check_tree: checks a submission tree by every rule of an edition.
//
//     ASSIGN_OR_RETURN(const CheckReport report, check_tree("submission/", {.edition = "v1.0"}));
//
// It fails only for an unknown edition. Everything broken in the tree is a finding. Pure, except
// that it reads files; any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/finding.h"
#include "rules/rule.h"

namespace assay::rules {

struct CheckOptions {
  std::string edition = "v1.0";
  // Lists that replace the edition's; "" keeps these.
  std::filesystem::path seed_sets{};
  std::filesystem::path drafters{};
  // Read event logs for the review aids; this takes one pass over them.
  bool review = true;
  // Ask the plausibility rules too, which are Assay's own and in no official checker.
  bool plausibility = true;
};

// The result of one rule.
struct RuleOutcome {
  const Rule* rule = nullptr;
  int asked = 0;  // number of things that it applied to
  int errors = 0;
  int warnings = 0;
  int infos = 0;
};

struct CheckReport {
  std::string path{};
  bool usable = true;  // there is a tree
  std::string edition{};
  // A tree of MLPerf Inference (inference/check.h): its models are counted as curves, its scenarios
  // as points.
  bool inference = false;
  int systems = 0;
  int curves = 0;
  int points = 0;
  std::vector<RuleOutcome> rules{};  // in the catalogue's order
  std::vector<Finding> findings{};   // in the rules' order, then the tree's

  int count(Severity severity) const;
  // True without errors; when strict, also without warnings.
  bool clean(bool strict) const;
};

Result<CheckReport> check_tree(const std::filesystem::path& path, const CheckOptions& options);

}  // namespace assay::rules
