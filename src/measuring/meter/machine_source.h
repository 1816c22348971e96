// What the kernel of this machine counts, read from its files: RAPL's energy counters, and the
// machine's CPU time, stolen time and TCP segments sent again. `root` stands for the folder that
// holds them, so that a test has its own.
#pragma once

#include <filesystem>
#include <memory>

#include "meter/source.h"

namespace assay::meter {

inline constexpr const char* kRaplRoot = "/sys/class/powercap";

// Joules of each zone (package, core, uncore, dram, psys), unwrapped by max_energy_range_uj: it
// must be read at least once a wrap, some ten minutes at full power. `core` and `uncore` are inside
// `package`. Since 2020 only root may read the counters.
Result<std::unique_ptr<Source>> rapl_source(const std::filesystem::path& root, Duration interval);

// The machine that measures: /proc/stat and /proc/net/snmp below `root`.
Result<std::unique_ptr<Source>> host_source(const std::filesystem::path& root, Duration interval);

}  // namespace assay::meter
