// `assay simulate --workload W --scenario S`: what a system would reach in a suite's scenario.
#pragma once

#include <string>

#include "base/exit_code.h"
#include "cli/simulate/simulate_words.h"
#include "plan/workload.h"

namespace assay::cli {

struct SuiteFlags {
  std::string workload{};
  std::string edition{};
  bool json = false;
};

// `system` is as the user gave it: its `file` is the scenario's name. Model and lengths that are not
// given are the workload's.
Result<int> simulate_suite(const SuiteFlags& suite, SystemFlags system);

}  // namespace assay::cli
