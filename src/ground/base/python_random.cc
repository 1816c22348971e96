#include "base/python_random.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <span>
#include <unordered_set>

#include "base/check.h"

namespace assay {

namespace {

MersenneTwister seeded(std::uint64_t seed) {
  // The seed's words, the lowest first.
  const std::array<std::uint32_t, 2> words{static_cast<std::uint32_t>(seed),
                                           static_cast<std::uint32_t>(seed >> 32)};
  return MersenneTwister::of_words(std::span(words).first(words[1] != 0 ? 2 : 1));
}

}  // namespace

PythonRandom::PythonRandom(std::uint64_t seed) : twister_(seeded(seed)) {}

double PythonRandom::random() {
  const std::uint32_t a = twister_.next() >> 5;
  const std::uint32_t b = twister_.next() >> 6;
  return (static_cast<double>(a) * 67108864.0 + static_cast<double>(b)) / 9007199254740992.0;
}

std::uint64_t PythonRandom::bits(int bits) {
  CHECK(bits >= 1 && bits <= 64);
  if (bits <= 32) return twister_.next() >> (32 - bits);
  const std::uint64_t low = twister_.next();
  return low | (static_cast<std::uint64_t>(twister_.next() >> (64 - bits)) << 32);
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

double PythonRandom::gauss(double mean, double deviation) {
  if (const std::optional<double> kept = std::exchange(gauss_next_, std::nullopt)) {
    return mean + *kept * deviation;
  }
  const double angle = random() * (2.0 * std::numbers::pi);
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random()));
  gauss_next_ = std::sin(angle) * radius;
  return mean + std::cos(angle) * radius * deviation;
}

// CPython takes from a list of all numbers, or remembers those that are taken: which of the two
// changes the draws, so its limit is kept.
std::vector<std::uint32_t> PythonRandom::sample(std::uint32_t size, std::uint32_t count) {
  CHECK(count <= size);
  double list_max = 21;
  if (count > 5) list_max += std::pow(4.0, std::ceil(std::log(count * 3.0) / std::log(4.0)));
  std::vector<std::uint32_t> out;
  out.reserve(count);
  if (size <= list_max) {
    std::vector<std::uint32_t> pool(size);
    std::iota(pool.begin(), pool.end(), 0U);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto j = static_cast<std::size_t>(below(size - i));
      out.push_back(pool[j]);
      pool[j] = pool[size - i - 1];
    }
    return out;
  }
  std::unordered_set<std::uint32_t> taken;
  while (out.size() < count) {
    const auto draw = static_cast<std::uint32_t>(below(size));
    if (taken.insert(draw).second) out.push_back(draw);
  }
  return out;
}

}  // namespace assay
