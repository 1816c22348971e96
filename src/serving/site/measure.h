// Measure: one order, run at the site by this program's own `run`, a process for each level of
// concurrency, or by one `curve`, and a `safety run` at each level where the order asks for a
// grade; so a fault in one ends no agent. The command line is made of the policy's values and of
// whole numbers and a scorer's name of the order; no path or address comes from the hub. Blocking;
// one at a time.
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

// The arguments of one level, from the command's name on; of the curve over all levels, where that
// is ordered; and of the safety run at a level.
std::vector<std::string> run_arguments(const Policy& policy, const Order& order,
                                       std::int64_t concurrency,
                                       const std::filesystem::path& folder);
std::vector<std::string> curve_arguments(const Policy& policy, const Order& order,
                                         const std::filesystem::path& folder);
std::vector<std::string> safety_arguments(const Policy& policy, const Order& order,
                                          std::int64_t concurrency,
                                          const std::filesystem::path& folder);

// The figures of a run's folder.
Result<sites::MeasuredLevel> read_level(const std::filesystem::path& folder,
                                        std::int64_t concurrency);
// Adds the share of right answers of a run's folder, where there is one.
Result<void> add_accuracy(const std::filesystem::path& folder, sites::MeasuredLevel& level);
// Adds the grade of a safety run's folder, and whether the order's gates are met.
Result<void> add_safety(const std::filesystem::path& folder, sites::MeasuredLevel& level);
void add_gates(const sites::Measurement& asked, sites::MeasuredLevel& level);

// Each attempt has a folder of its own below the policy's. Errors: Code::refused where the run
// ended with an exit code that says that there is no result, timed_out where it was interrupted.
Result<std::vector<sites::MeasuredLevel>> measure(const Policy& policy, const Order& order,
                                                  const std::filesystem::path& program);

}  // namespace assay::site
