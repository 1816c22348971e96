// The suites' benchmarks shown: one, all of them, or the config that a run
// of one uses. `assay workloads` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"

namespace assay::plan {

struct ShownWorkload {
  std::string name{};  // "": all are listed
  std::string edition{};
  std::string scenario{};
  bool config = false;
  bool json = false;
};

// Returns the exit code.
Result<int> show_workloads(const ShownWorkload& options, const Talk& talk);

}  // namespace assay::plan
