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
  std::string explain{};  // "v5.1..v6.0": what each lever between two software generations gives
  bool json = false;
};

// `system` is as the user gave it: its `file` is the scenario's name. Model and lengths that are
// not given are the workload's.
Result<int> simulate_suite(const SuiteFlags& suite, SystemFlags system);

}  // namespace assay::cli
