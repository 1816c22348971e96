// For tests: the length of each query.
#pragma once

#include "sim/simulate.h"

namespace assay::sim {

inline LengthDraw exactly(std::uint32_t n) {
  return [n](Rng&) { return n; };
}

inline LengthDraw between(std::uint32_t low, std::uint32_t high) {
  return
      [low, high](Rng& rng) { return low + static_cast<std::uint32_t>(rng.below(high - low + 1)); };
}

}  // namespace assay::sim
