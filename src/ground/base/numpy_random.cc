#include "base/numpy_random.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/check.h"

namespace assay {

double NumpyRandom::random() {
  const std::uint32_t a = twister_.next() >> 5;
  const std::uint32_t b = twister_.next() >> 6;
  return (static_cast<double>(a) * 67108864.0 + static_cast<double>(b)) / 9007199254740992.0;
}

// Draws under a mask until one is in range; a range of one value draws nothing.
std::uint64_t NumpyRandom::below(std::uint64_t bound) {
  CHECK(bound > 0 && bound <= std::uint64_t{1} << 32);
  const auto most = static_cast<std::uint32_t>(bound - 1);
  if (most == 0) return 0;
  const std::uint32_t mask = ~std::uint32_t{0} >> std::countl_zero(most);
  for (;;) {
    const std::uint32_t draw = twister_.next() & mask;
    if (draw <= most) return draw;
  }
}

std::vector<std::uint8_t> NumpyRandom::choice(std::span<const double> p, std::size_t size) {
  CHECK(!p.empty() && p.size() <= std::numeric_limits<std::uint8_t>::max());
  std::vector<double> sums(p.begin(), p.end());
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  const double whole = sums.back();
  CHECK(whole > 0);
  for (double& sum : sums) sum /= whole;
  std::vector<std::uint8_t> out(size);
  for (std::uint8_t& place : out) {
    const auto above = std::upper_bound(sums.begin(), sums.end(), random());
    place = static_cast<std::uint8_t>(above - sums.begin());
  }
  return out;
}

}  // namespace assay
