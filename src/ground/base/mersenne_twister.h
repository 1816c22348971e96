// MersenneTwister: MT19937 (Matsumoto and Nishimura 1998), the 32-bit engine below CPython's Random
// (python_random.h) and below LoadGen's generators (libstdcxx_random.h). It has both ways of
// seeding that its authors published. Not for secrets. A value belongs to one thread; a copy goes
// on from the same place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace assay {

class MersenneTwister {
 public:
  // init_genrand: std::mt19937's way.
  explicit MersenneTwister(std::uint32_t seed);
  // init_by_array: CPython's way. REQUIRES: at least one word.
  static MersenneTwister of_words(std::span<const std::uint32_t> words);

  std::uint32_t next();

 private:
  void refill();

  static constexpr std::size_t kWords = 624;
  std::array<std::uint32_t, kWords> state_{};
  std::size_t position_ = kWords;
};

}  // namespace assay
