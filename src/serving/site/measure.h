// Measure: one order, run at the site by this program's own `run`, a process for each level of
// concurrency, so that a fault in one ends no agent. The command line is made of the policy's
// values and of whole numbers and a scorer's name of the order; no path or address comes from the
// hub. Blocking; one at a time.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "site/policy.h"

namespace assay::site {

struct Order {
  std::string run{};
  std::string dataset{};
  std::string model{};
  sites::Measurement measurement{};
};

// The arguments of one level, from the command's name on.
std::vector<std::string> run_arguments(const Policy& policy, const Order& order,
                                       std::int64_t concurrency,
                                       const std::filesystem::path& folder);

// The figures of a run's folder.
Result<sites::MeasuredLevel> read_level(const std::filesystem::path& folder,
                                        std::int64_t concurrency);

// Each attempt has a folder of its own below the policy's. Errors: Code::refused where the run
// ended with an exit code other than 0 and 4, timed_out where it was interrupted.
Result<std::vector<sites::MeasuredLevel>> measure(const Policy& policy, const Order& order,
                                                  const std::filesystem::path& program);

}  // namespace assay::site
