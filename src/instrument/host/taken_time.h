// TakenTime: time taken from this machine or this process while it had work: by the hypervisor
// (steal, /proc/stat) and by the CPU quota of its control group (cpu.stat of version 1 and of
// version 2, of the group itself and of those above it). The counters only grow: the difference of
// two readings is the time taken between them.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/time.h"

namespace assay::host {

// Negative where the system does not report it.
struct TakenTime {
  Duration stolen{-1};     // over all cores
  Duration throttled{-1};  // over all cores on which the group had work
  std::uint64_t throttled_periods = 0;
};

// `root` stands for "/": tests have their own.
TakenTime read_taken_time(const std::filesystem::path& root);
// Resolution of `stolen`: a tick of USER_HZ.
Duration stolen_step();
// The time taken between two readings.
TakenTime taken_between(const TakenTime& before, const TakenTime& after);

}  // namespace assay::host
