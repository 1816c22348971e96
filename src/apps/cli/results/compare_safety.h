// `assay compare A B --safety`: the safety runs of two folders, prompt by prompt, at each
// concurrency that both have (safety/level_pairs.h).
#pragma once

#include <optional>
#include <string>

#include "base/flags.h"
#include "base/result.h"
#include "cli/results/compare_flags.h"
#include "cli/safety_inputs.h"

namespace assay::cli {

class SafetyCompare {
 public:
  // This must outlive flags.parse().
  explicit SafetyCompare(Flags& flags);
  SafetyCompare(const SafetyCompare&) = delete;
  SafetyCompare& operator=(const SafetyCompare&) = delete;
  bool asked() const { return asked_ || margin_points_ || !html_.empty(); }
  // Prints the answer and returns the exit code.
  Result<int> compare(const std::string& a, const std::string& b, const CompareFlags& flags) const;

 private:
  bool asked_ = false;
  std::optional<double> margin_points_{};
  std::string html_{};
  SafetyInputs inputs_{};
};

}  // namespace assay::cli
