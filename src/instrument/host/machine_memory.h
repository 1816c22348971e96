// Memory that this process may use: the machine's, or less where a control group (memory.max,
// memory.limit_in_bytes) or RLIMIT_AS limits it.
#pragma once

#include <cstdint>
#include <filesystem>

namespace assay::host {

// In bytes; 0 where the system does not report it. `root` stands for "/": tests have their own.
std::uint64_t usable_memory(const std::filesystem::path& root);

}  // namespace assay::host
