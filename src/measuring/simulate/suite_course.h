// `assay simulate --workload W --scenario S`: what a system would reach in a suite's scenario.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "simulate/system_words.h"

namespace assay::simulate {

struct SuiteAsked {
  std::string workload{};
  std::string edition{};
  std::string explain{};  // "v5.1..v6.0": what each lever between two software generations gives
  bool json = false;
};

// `system` is as the user gave it: its `file` is the scenario's name. Model and lengths that are
// not given are the workload's. Returns the exit code.
Result<int> simulate_suite(const SuiteAsked& suite, SystemWords system, const Talk& talk);

}  // namespace assay::simulate
