// Arrivals: the instants at which an open loop's queries are due, from the phase's start,
// ascending. The whole schedule is drawn before the run, so a slow server cannot delay the queries
// behind it (coordinated omission).
//
// Each query waits for a gap, also the first one. Each gap is drawn by itself, in nanoseconds:
//   poisson   max(1, trunc(expovariate(rate / 1e9))) of CPython's generator: bit for bit what the
//             reference client draws (spec, section 4.4)
//   gamma     the same with gammavariate(k, 1 / (k · rate)): mean 1/rate, variance 1/(k · rate²)
//   constant  query n is due at n / rate, so that no error adds up
//   ramp      Poisson with a changing rate: with E a unit-exponential draw, the next query is due
//             when the rate's integral since the last one reaches E. The last level has no end.
// Instants stop growing at about 100 years. One thread uses a value.
#pragma once

#include <cstdint>
#include <vector>

#include "base/python_random.h"
#include "base/time.h"

namespace assay::plan {

// Offers `rate` queries a second from `at` until the next level.
struct RateLevel {
  Duration at{};
  double rate = 0;
};

class Arrivals {
 public:
  // REQUIRES for all: rate > 0.
  static Arrivals poisson(double rate, std::uint64_t seed);
  static Arrivals gamma(double rate, double burstiness, std::uint64_t seed);
  static Arrivals constant(double rate);
  // REQUIRES: at least one level, the first at 0, ascending, the last with a rate above 0.
  static Arrivals ramp(std::vector<RateLevel> levels, std::uint64_t seed);

  // When the next query is due.
  Duration next();
  // Starts again from 0 and keeps the generator's state: for the next phase of a run. A ramp stays
  // at its last level.
  void restart();

 private:
  enum class Kind : std::uint8_t { poisson, gamma, constant, ramp };
  Arrivals(Kind kind, double rate, std::uint64_t seed) : kind_(kind), rate_(rate), random_(seed) {}
  Duration next_of_ramp();

  Kind kind_;
  double rate_;
  double burstiness_ = 1;
  std::vector<RateLevel> levels_{};
  PythonRandom random_;
  Duration at_{};
  std::uint64_t count_ = 0;
};

}  // namespace assay::plan
