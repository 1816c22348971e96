// What ranks say to one another: JSON objects, one a line (line.h).
//
//     rank → 0   {"hello": 1, "rank", "of", "host", "version", "digest", "threads"}
//     0 → rank   {"welcome": RUN_ID}                    or {"abort": WHY}, at any time
//     rank → 0   {"probe": N}
//     0 → rank   {"echo": N, "received": ns, "answered": ns}      by rank 0's clock
//     rank → 0   {"ready": 1}
//     0 → rank   {"start": ns}                                    by rank 0's clock
//     rank → 0   {"end": "complete"}, when its folder is written
//     0 → rank   {"bye": 1}
#pragma once

#include <string>

#include "base/format.h"
#include "ranks/session.h"

namespace assay::ranks {

// Rank 0 takes a rank for lost after so much silence while the load runs; a rank sends a probe
// each second.
inline constexpr Duration kSilenceMax = 30_s;
inline constexpr Duration kProbeEvery = 1_s;

inline std::string rank_name(std::uint32_t rank, const std::string& host) {
  return host.empty() ? format("rank {}", rank) : format("rank {} ({})", rank, host);
}

}  // namespace assay::ranks
