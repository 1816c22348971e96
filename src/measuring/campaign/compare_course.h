// Two sides held against each other, each a run or a folder of several: in speed, in scores sample
// by sample, in safety prompt by prompt (safety/level_pairs.h). `assay compare` is the command, and
// the interleaved form ends in the same comparison.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/safety/safety_inputs.h"
#include "compare/accuracy.h"
#include "compare/compare.h"

namespace assay::campaign {

struct CompareAsked {
  std::string metric_list{};
  std::vector<std::string> noise{};  // runs, or folders of runs, that were made to learn the noise
  std::string junit{};
  bool github = false;
  bool json = false;
  bool strict = false;
  bool accuracy = false;
  std::optional<double> accuracy_points{};
  compare::CompareOptions options{};
  compare::AccuracyOptions accuracy_options{};
  double regression_percent = 1;
  double equivalence_percent = 3;
  double length_percent = 2;
  double errors_percent = 1;
  double confidence_percent = 95;

  // Fills `options` from what was typed.
  Result<void> understand();
};

// The safety runs of two folders at each concurrency that both have.
struct SafetyCompare {
  bool asked = false;
  std::optional<double> margin_points{};
  std::string html{};
  SafetyInputs inputs{};

  bool wanted() const { return asked || margin_points || !html.empty(); }
};

// Each prints the answer and returns the exit code. `tokenizer` counts the tokens of both runs
// again; "" keeps each run's own counts.
Result<int> compare_folders(const std::string& a, const std::string& b, const CompareAsked& asked,
                            const std::string& tokenizer, const Talk& talk);
Result<int> compare_accuracy_of(const std::string& a, const std::string& b,
                                const CompareAsked& asked, const Talk& talk);
Result<int> compare_safety_of(const std::string& a, const std::string& b, const CompareAsked& asked,
                              const SafetyCompare& safety, const Talk& talk);
// One of them, as was asked; refuses curves.
Result<int> compare_sides_of(const std::string& a, const std::string& b, CompareAsked& asked,
                             const SafetyCompare& safety, const std::string& tokenizer,
                             const Talk& talk);

}  // namespace assay::campaign
