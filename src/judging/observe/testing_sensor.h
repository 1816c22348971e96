// A load and a sensor of it that is late, for tests of lags. A seed gives one load. One thread.
#pragma once

#include "base/rng.h"
#include "observe/lag.h"

namespace assay::observe {

inline constexpr std::string_view kPower = "gpu_power_w";
inline constexpr std::string_view kEnergy = "gpu_energy_j";

// A load that is on and off for seconds of random length.
inline Load steps(std::uint64_t seed, std::int64_t seconds) {
  Load load;
  Rng rng(seed);
  double level = 0;
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < seconds * 100; ++i) {
    if (left-- <= 0) {
      level = level > 0 ? 0 : 8;
      left = 300 + static_cast<std::int64_t>(rng.next() % 900);
    }
    load.cells.push_back(level);
  }
  load.sum_up();
  return load;
}

// What a sensor would show of it: idle + gain × load, late, averaged, with noise.
inline Signal sensor(const Load& load, std::string_view id, Duration lag, Duration width,
                     Duration interval, double noise) {
  Signal out{.measure = find_measure(id)};
  Rng rng(7);
  double joules = 0;
  const Instant end = load.origin + load.width * static_cast<std::int64_t>(load.cells.size());
  for (Instant at = load.origin; at < end; at = at + interval) {
    const double spread = noise * (static_cast<double>(rng.next() % 2001) / 1000 - 1);
    if (id == kEnergy) {
      joules += (60 + 40 * load.mean(at - interval - lag, at - lag) + spread) * interval.seconds();
      out.points.push_back({.at = at, .value = joules});
    } else {
      out.points.push_back(
          {.at = at, .value = 60 + 40 * load.mean(at - width - lag, at - lag) + spread});
    }
  }
  return out;
}

}  // namespace assay::observe
