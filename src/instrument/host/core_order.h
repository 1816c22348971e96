// The order in which measuring threads take cores when they are pinned: the fastest core's memory
// node first, and a core of its own for each before two threads share one as siblings of
// hyperthreading. It reads /sys as the kernel shows it: topology/core_id and the node's folder
// below each cpuN, and of acpi_cppc/highest_perf, cpu_capacity and cpufreq/cpuinfo_max_freq the
// first that any core has. What is not shown counts as equal. Any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace assay::host {

// `root` stands for "/": tests have their own. `cores`: the numbers to order.
std::vector<int> in_order_of_use(std::vector<int> cores, const std::filesystem::path& root = "/");

// The cores that `threads` pinned measuring threads leave to others, in the same order; may be
// empty.
std::vector<int> cores_left(std::vector<int> cores, std::size_t threads,
                            const std::filesystem::path& root = "/");

}  // namespace assay::host
