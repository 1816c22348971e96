// Synthetic runs for tests of the steady state: queries at a fixed gap, whose TPOT has a shape over
// the run and noise about it. A seed gives one run. One thread.
#pragma once

#include <cmath>
#include <functional>

#include "base/rng.h"
#include "metrics/steady_state.h"

namespace assay::metrics {

struct Shape {
  std::uint64_t pass = 500;
  std::uint64_t passes = 8;
  double noise = 0.12;    // of one reply's TPOT, of the logarithm
  double wander = 0;      // of a slow disturbance that replies share
  Duration gap = 100_ms;  // between issues
};

// A run whose TPOT is 20 ms × level(share of the run) × noise.
inline std::vector<Issued> make_run(const Shape& shape, std::uint64_t seed,
                                    const std::function<double(double)>& level) {
  Rng rng(seed);
  const std::uint64_t n = shape.pass * shape.passes;
  std::vector<Issued> out(n);
  double slow = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    slow = 0.98 * slow + std::sqrt(1 - 0.98 * 0.98) * shape.wander * rng.normal();
    const double at = static_cast<double>(i) / static_cast<double>(n);
    Issued& query = out[i];
    query.sent = Instant{} + shape.gap * static_cast<std::int64_t>(i);
    query.ok = true;
    query.tpot = 20e6 * level(at) * std::exp(shape.noise * rng.normal() + slow);
    query.ttft = 300e6;
    query.latency = query.ttft + 100 * query.tpot;
    query.tokens = 101;
  }
  return out;
}

inline SteadyState find(const std::vector<Issued>& run, const Shape& shape, Duration least = 60_s) {
  return find_steady_state(run, {.super_pass = shape.pass, .window_min = least});
}

}  // namespace assay::metrics
