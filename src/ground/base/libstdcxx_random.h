// LibstdcxxRandom: the 32-bit Mersenne Twister of the C++ standard with the distributions of GCC
// 11's libstdc++ and later, bit for bit. The standard fixes the engine and leaves the distributions
// to each library, so LoadGen's query order is that of the library that it was built with; the
// published builds have this one. std's own are not used, so that every compiler makes the same
// order. Not for secrets. A value belongs to one thread; a copy goes on from the same place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/mersenne_twister.h"

namespace assay {

class LibstdcxxRandom {
 public:
  static constexpr std::uint64_t kDefaultSeed = 5489;

  // The engine has 32 bits of seed: the upper half of a 64-bit seed is ignored.
  explicit LibstdcxxRandom(std::uint64_t seed = kDefaultSeed)
      : twister_(static_cast<std::uint32_t>(seed)) {}

  std::uint32_t bits() { return twister_.next(); }
  // std::uniform_int_distribution(0, bound − 1): Lemire's method. REQUIRES: bound > 0.
  std::uint32_t below(std::uint32_t bound);
  // std::uniform_real_distribution(0, 1): two draws, below 1.
  double canonical();
  // std::exponential_distribution(rate).
  double exponential(double rate);

  // std::shuffle. It takes two places from one draw for at most 65,535 items.
  // REQUIRES: fewer than 2^32 items.
  template <typename T>
  void shuffle(std::span<T> items) {
    const std::size_t count = items.size();
    std::size_t i = 1;
    if (count <= kPairsMax) {
      if (count > 0 && count % 2 == 0) std::swap(items[i++], items[below(2)]);
      while (i < count) {
        const auto places = static_cast<std::uint32_t>(i + 1);
        const std::uint32_t both = below(places * (places + 1));
        std::swap(items[i++], items[both / (places + 1)]);
        std::swap(items[i++], items[both % (places + 1)]);
      }
      return;
    }
    for (; i < count; ++i) std::swap(items[i], items[below(static_cast<std::uint32_t>(i + 1))]);
  }

 private:
  static constexpr std::size_t kPairsMax = 65'535;

  MersenneTwister twister_;
};

}  // namespace assay
