// The texts of SPEC's PTDaemon, which drives a power analyzer: one command a line, one reply a
// line, and after RL the samples, each as in the analyzer's own log:
//
//   Time,11-23-2026 10:00:00.123,Watts,24.98,Volts,227.37,Amps,0.22,PF,0.5,Mark,run
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace assay::meter {

struct PtdSample {
  Duration stamp{};  // since 1970-01-01 00:00 of the analyzer's own clock and zone
  double watts = 0;
  std::optional<double> volts{};  // several analyzers have none in common
  std::optional<double> amps{};
};

// nullopt for a line that is no sample, or whose watts are not above 0: the analyzer's way to say
// that it has none.
std::optional<PtdSample> read_ptd_sample(std::string_view line);

// "Ranges,ampAuto,ampRange,voltAuto,voltRange": what RR replies.
struct PtdRanges {
  std::string volts{};  // "Auto" or a number, as SR takes it
  std::string amps{};
};
Result<PtdRanges> read_ptd_ranges(std::string_view line);

// "Last 12 samples" after RL.
std::optional<std::uint64_t> read_ptd_count(std::string_view line);

}  // namespace assay::meter
