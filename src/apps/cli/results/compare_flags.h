// The flags of `assay compare` for the thresholds and the outputs, with or without --interleave,
// and the comparison of two run folders with them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/flags.h"
#include "base/result.h"
#include "compare/accuracy.h"
#include "compare/compare.h"

namespace assay::cli {

struct CompareFlags {
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

  // This must outlive flags.parse().
  void add_to(Flags& flags);
  // Fills `options`. Call it after flags.parse().
  Result<void> understand();
};

// Compares two sides, each a run or a folder of several, and reports on the terminal, in JUnit XML
// and as annotations; returns the exit code. `tokenizer` counts the tokens of both runs again; ""
// keeps each run's own counts.
Result<int> compare_folders(const std::string& a, const std::string& b, const CompareFlags& flags,
                            const std::string& tokenizer = "");

// Compares the scores of both runs, sample by sample; returns the exit code.
Result<int> compare_accuracy_of(const std::string& a, const std::string& b,
                                const CompareFlags& flags);

}  // namespace assay::cli
