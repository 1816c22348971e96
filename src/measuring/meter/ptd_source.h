// A power analyzer by SPEC's PTDaemon, over TCP, as a power submission measures: greet it, ask
// which analyzer it drives and which ranges are set, set the ranges of the phase, start an untimed
// measurement of one sample a second, read its samples, stop it, and restore the ranges.
//
// Ranging and testing are two runs of one load. In the first the ranges are Auto, and what it needs
// is the highest voltage and current that it saw, which the report states; the second is given
// them, with a tenth more current. A daemon that refuses a command is an error with its words.
//
// The samples' stamps are of the analyzer's clock and zone. They are moved to the run's clock by
// the shortest delay that a reading had: late by that delay at least, which the source's lag shows.
#pragma once

#include <memory>
#include <string>

#include "meter/ptd_text.h"
#include "meter/source.h"

namespace assay::meter {

inline constexpr std::uint16_t kPtdPort = 8888;

struct PtdPlace {
  std::string host{};
  std::uint16_t port = kPtdPort;
  PtdRanges ranges{"Auto", "Auto"};
};

// "HOST", "HOST:PORT", "HOST:PORT/VOLTS/AMPS", "[::1]:PORT".
Result<PtdPlace> parse_ptd_place(std::string_view text);

// The daemon makes a sample a second; `interval` is how often they are fetched.
Result<std::unique_ptr<Source>> ptd_source(const PtdPlace& place, Duration interval,
                                           const Clock& clock);

}  // namespace assay::meter
