// NumpyRandom: NumPy's legacy generator (numpy.random.seed and the functions of its module), bit
// for bit, for data sets that a published program made with it. NumPy promises that this stream
// never changes. Not for secrets. A value belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/mersenne_twister.h"

namespace assay {

class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : twister_(seed) {}

  // random_sample(): uniform in [0, 1), 53 bits.
  double random();
  // randint(0, bound). REQUIRES: 0 < bound <= 2^32.
  std::uint64_t below(std::uint64_t bound);
  // choice(len(p), size, p=p): places in `p`. REQUIRES: not empty, no negative number, and a sum
  // above 0.
  std::vector<std::uint8_t> choice(std::span<const double> p, std::size_t size);

 private:
  MersenneTwister twister_;
};

}  // namespace assay
