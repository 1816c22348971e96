// Gate: --require and --junit of the commands that measure or report a run or a curve
// (compare/requirement.h has the grammar).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "campaign/curve/curve_folder.h"
#include "compare/requirement.h"

namespace assay::campaign {

class Gate {
 public:
  std::vector<std::string> texts{};  // as typed
  std::string junit{};               // a file; "": none

  // Reads the requirements, before anything is measured.
  Result<void> understand();
  bool asked() const { return !requirements_.empty(); }

  void judge(std::string name, const metrics::Point& point);
  // The same with a recorded run, read from its folder.
  Result<void> judge_folder(std::string name, const std::filesystem::path& folder);
  // Every finished point of a curve.
  Result<void> judge_points(const CurveFolder& folder);
  // Writes the JUnit file, adds a cause of exit code 5, and `requirements` to the result.
  Result<void> finish(std::string_view suite, Ending& ending, Json* result) const;
  // A line for each requirement of each run; empty if nothing was asked.
  std::string text() const;

 private:
  std::vector<compare::Requirement> requirements_{};
  std::vector<compare::Judged> judged_{};
};

}  // namespace assay::campaign
