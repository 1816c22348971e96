// TruthFigures: what really happened in a job, from the endpoint's truth log: the time from a
// request's last byte to its first token handed to the kernel, and the gaps between tokens. A
// client on the same host may see more, by what the kernel and the wire take (tens of
// microseconds on loopback), and never less. Pure.
#pragma once

#include <cstdint>

#include "conformance/peer.h"
#include "endpoint/truth_log.h"

namespace assay::conformance {

struct TruthFigures {
  Spread ttft{};
  Spread gaps{};              // of each gap
  Spread reply_gaps{};        // of each reply's mean gap
  std::uint64_t replies = 0;  // streamed whole, with two tokens or more
};

// Percentiles by linear interpolation between values, as NumPy's default has them.
TruthFigures truth_figures(const endpoint::TruthRecord& record);

}  // namespace assay::conformance
