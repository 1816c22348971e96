// The flags of `assay compare` that say what counts as worse and what is written, with or without
// --interleave, and the comparison of two run folders by them.
#pragma once

#include <filesystem>
#include <string>

#include "base/flags.h"
#include "base/result.h"
#include "compare/compare.h"

namespace assay::cli {

struct CompareFlags {
  std::string metric_list{};
  std::string junit{};
  bool github = false;
  bool json = false;
  bool strict = false;
  compare::CompareOptions options{};
  double regression_percent = 1;
  double equivalence_percent = 3;
  double length_percent = 2;
  double errors_percent = 1;
  double confidence_percent = 95;

  // This must outlive flags.parse().
  void add_to(Flags& flags);
  // After flags.parse(): fills `options`.
  Result<void> understand();
};

// Compares and says so, on the terminal, in JUnit XML, as annotations; the exit code.
// `tokenizer`: what counts both runs' tokens anew; "": they are taken as each run has them.
Result<int> compare_folders(const std::string& a, const std::string& b, const CompareFlags& flags,
                            const std::string& tokenizer = "");

}  // namespace assay::cli
