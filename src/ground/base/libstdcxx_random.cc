#include "base/libstdcxx_random.h"

#include <cmath>

#include "base/check.h"

namespace assay {

std::uint32_t LibstdcxxRandom::below(std::uint32_t bound) {
  CHECK(bound > 0);
  std::uint64_t product = std::uint64_t{bits()} * bound;
  auto low = static_cast<std::uint32_t>(product);
  if (low < bound) {
    const std::uint32_t threshold = (0U - bound) % bound;
    while (low < threshold) {
      product = std::uint64_t{bits()} * bound;
      low = static_cast<std::uint32_t>(product);
    }
  }
  return static_cast<std::uint32_t>(product >> 32);
}

double LibstdcxxRandom::canonical() {
  const double low = bits();
  const double high = bits();
  const double drawn = (low + high * 0x1p32) / 0x1p64;
  return drawn < 1 ? drawn : std::nextafter(1.0, 0.0);
}

double LibstdcxxRandom::exponential(double rate) { return -std::log(1.0 - canonical()) / rate; }

}  // namespace assay
