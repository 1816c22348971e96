// Delay: a fixed time, or a distribution to draw from. The text that users write for TTFT and ITL:
//
//   0 · 50ms · normal:50ms,5ms · lognormal:50ms,0.5 · exponential:50ms
//
// normal is mean and standard deviation, cut off at zero. lognormal is the median and sigma of the
// logarithm. exponential is the mean. A bare number counts milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"
#include "base/time.h"

namespace assay::sim {

struct Delay {
  enum class Kind : std::uint8_t { fixed, normal, lognormal, exponential };
  Kind kind = Kind::fixed;
  Duration center{};  // fixed: the time · normal, exponential: the mean · lognormal: the median
  double spread = 0;  // normal: deviation in nanoseconds · lognormal: sigma · else unused

  static constexpr Delay fixed(Duration time) { return {Kind::fixed, time, 0}; }
  bool is_fixed() const { return kind == Kind::fixed; }
  bool operator==(const Delay&) const = default;
};

Result<Delay> parse_delay(std::string_view text);
// Text that parse_delay() reads.
std::string to_string(const Delay& delay);
// Draws a delay: never negative, at most a year.
Duration draw_delay(const Delay& delay, Rng& rng);

}  // namespace assay::sim
