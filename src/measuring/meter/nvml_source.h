// NVIDIA's cards by NVML, opened at run time: power (mW, a mean over a second on most cards),
// energy since the driver was loaded (mJ), utilization, memory, SM clock, temperature; each card
// under its UUID. A call that a card or a driver does not support is a missing reading, and no
// error; a library without one card is one.
//
// A reading costs the driver up to some milliseconds a card, and may hold locks that the serving
// process wants: ten a second are the most that is wise.
#pragma once

#include <memory>
#include <string>

#include "meter/source.h"

namespace assay::meter {

inline constexpr const char* kNvmlLibrary = "libnvidia-ml.so.1";

// `cards`: their numbers; empty: all.
Result<std::unique_ptr<Source>> nvml_source(const std::string& library,
                                            const std::vector<unsigned>& cards, Duration interval);

}  // namespace assay::meter
