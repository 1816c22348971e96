// PythonRandom: CPython's random.Random, bit for bit (Mersenne Twister MT19937, seeded by
// init_by_array over the seed's 32-bit words), so that the same seeds
// give the same arrival gaps, sample order and salts as the reference client. Golden vectors are in
// the test. Not for secrets. A value belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/mersenne_twister.h"

namespace assay {

class PythonRandom {
 public:
  explicit PythonRandom(std::uint64_t seed);

  // random(): uniform in [0, 1), 53 bits.
  double random();
  // getrandbits(bits). REQUIRES: 1 <= bits <= 64.
  std::uint64_t bits(int bits);
  // _randbelow(bound); randint(0, bound − 1). REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  // expovariate(rate): −ln(1 − random()) / rate.
  double exponential(double rate);
  // gammavariate(alpha, beta), mean alpha × beta.
  double gamma(double alpha, double beta);
  // gauss(mean, deviation): two draws give two values, the second is kept for the next call.
  double gauss(double mean, double deviation);
  // sample(range(size), count): `count` different numbers below `size`. REQUIRES: count <= size.
  std::vector<std::uint32_t> sample(std::uint32_t size, std::uint32_t count);

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i-- > 1;) {
      std::swap(items[i], items[static_cast<std::size_t>(below(i + 1))]);
    }
  }

 private:
  MersenneTwister twister_;
  std::optional<double> gauss_next_{};
};

}  // namespace assay
