// Rng: the project's own generator (xoshiro256++, Blackman and Vigna, seeded by splitmix64). One
// seed gives the same numbers on every compiler and standard library.
//
// Use PythonRandom (base/python_random.h) for sequences that must equal the reference client's. Not
// for secrets. A value belongs to one thread.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/check.h"

namespace assay {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) {
    for (std::uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, bound), without bias. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    CHECK(bound > 0);
    const std::uint64_t limit = -bound % bound;
    for (;;) {
      const std::uint64_t draw = next();
      if (draw >= limit) return draw % bound;
    }
  }
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }
  // Standard normal (Box and Muller, one of the pair).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
    return radius * std::cos(2.0 * 3.14159265358979323846 * uniform());
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace assay
