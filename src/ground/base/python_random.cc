#include "base/python_random.h"

#include <bit>
#include <cmath>

#include "base/check.h"

namespace assay {

PythonRandom::PythonRandom(std::uint64_t seed) {
  // init_genrand(19650218), then init_by_array over the seed's words, lowest first.
  state_[0] = 19650218U;
  for (std::uint32_t i = 1; i < kWords; ++i) {
    state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  const std::array<std::uint32_t, 2> key{static_cast<std::uint32_t>(seed),
                                         static_cast<std::uint32_t>(seed >> 32)};
  const std::size_t length = key[1] != 0 ? 2 : 1;
  std::size_t i = 1;
  std::size_t j = 0;
  const auto carry = [&] {
    if (++i >= kWords) {
      state_[0] = state_[kWords - 1];
      i = 1;
    }
  };
  for (std::size_t k = 0; k < kWords; ++k) {
    const std::uint32_t mixed = (state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525U;
    state_[i] = (state_[i] ^ mixed) + key[j] + static_cast<std::uint32_t>(j);
    carry();
    if (++j >= length) j = 0;
  }
  for (std::size_t k = 0; k < kWords - 1; ++k) {
    const std::uint32_t mixed = (state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941U;
    state_[i] = (state_[i] ^ mixed) - static_cast<std::uint32_t>(i);
    carry();
  }
  state_[0] = 0x80000000U;
}

void PythonRandom::refill() {
  constexpr std::size_t kShift = 397;
  for (std::size_t i = 0; i < kWords; ++i) {
    const std::uint32_t y = (state_[i] & 0x80000000U) | (state_[(i + 1) % kWords] & 0x7fffffffU);
    state_[i] = state_[(i + kShift) % kWords] ^ (y >> 1) ^ ((y & 1U) ? 0x9908b0dfU : 0U);
  }
  position_ = 0;
}

std::uint32_t PythonRandom::next32() {
  if (position_ == kWords) refill();
  std::uint32_t y = state_[position_++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680U;
  y ^= (y << 15) & 0xefc60000U;
  return y ^ (y >> 18);
}

double PythonRandom::random() {
  const std::uint32_t a = next32() >> 5;
  const std::uint32_t b = next32() >> 6;
  return (static_cast<double>(a) * 67108864.0 + static_cast<double>(b)) / 9007199254740992.0;
}

std::uint64_t PythonRandom::bits(int bits) {
  CHECK(bits >= 1 && bits <= 64);
  if (bits <= 32) return next32() >> (32 - bits);
  const std::uint64_t low = next32();
  return low | (static_cast<std::uint64_t>(next32() >> (64 - bits)) << 32);
}

std::uint64_t PythonRandom::below(std::uint64_t bound) {
  CHECK(bound > 0);
  const int width = static_cast<int>(std::bit_width(bound));
  for (;;) {
    const std::uint64_t draw = bits(width);
    if (draw < bound) return draw;
  }
}

double PythonRandom::exponential(double rate) { return -std::log(1.0 - random()) / rate; }

// CPython's gammavariate: Cheng (1977) for alpha > 1, Ahrens and Dieter's GS (1974) for alpha < 1.
double PythonRandom::gamma(double alpha, double beta) {
  CHECK(alpha > 0 && beta > 0);
  if (alpha > 1.0) {
    const double ainv = std::sqrt(2.0 * alpha - 1.0);
    const double bbb = alpha - std::log(4.0);
    const double ccc = alpha + ainv;
    const double magic = 1.0 + std::log(4.5);
    for (;;) {
      const double u1 = random();
      if (!(1e-7 < u1 && u1 < 0.9999999)) continue;
      const double u2 = 1.0 - random();
      const double v = std::log(u1 / (1.0 - u1)) / ainv;
      const double x = alpha * std::exp(v);
      const double z = u1 * u1 * u2;
      const double r = bbb + ccc * v - x;
      if (r + magic - 4.5 * z >= 0.0 || r >= std::log(z)) return x * beta;
    }
  }
  if (alpha == 1.0) return -std::log(1.0 - random()) * beta;
  constexpr double kE = 2.718281828459045;
  for (;;) {
    const double u = random();
    const double b = (kE + alpha) / kE;
    const double p = b * u;
    const double x = p <= 1.0 ? std::pow(p, 1.0 / alpha) : -std::log((b - p) / alpha);
    const double u1 = random();
    if (p > 1.0) {
      if (u1 <= std::pow(x, alpha - 1.0)) return x * beta;
    } else if (u1 <= std::exp(-x)) {
      return x * beta;
    }
  }
}

}  // namespace assay
