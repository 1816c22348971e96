// LengthSpec: a length in tokens: one number, or a distribution to draw from. Users write ISL and
// OSL like this:
//
//   512 · fixed:512 · uniform:100-200 · normal:512,64 · lognormal:512,0.5
//
// uniform includes both ends. normal takes mean and standard deviation in tokens. lognormal takes
// the median in tokens and sigma of the logarithm. Draws are rounded and cut to [1, kLengthMax].
// They come from base/rng.h, so a seed gives the same lengths on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/rng.h"

namespace assay::dataset {

inline constexpr std::int64_t kLengthMax = 10'000'000;

struct LengthSpec {
  enum class Kind : std::uint8_t { fixed, uniform, normal, lognormal };
  Kind kind = Kind::fixed;
  double a = 0;  // fixed: the length · uniform: lowest · normal: mean · lognormal: median
  double b = 0;  // fixed: unused · uniform: highest · normal: deviation · lognormal: sigma

  static LengthSpec fixed(std::int64_t tokens) {
    return {Kind::fixed, static_cast<double>(tokens), 0};
  }
  bool is_fixed() const { return kind == Kind::fixed; }
  bool operator==(const LengthSpec&) const = default;
};

Result<LengthSpec> parse_length(std::string_view text);
// The text that parse_length reads.
std::string to_string(const LengthSpec& spec);
// Returns at least 1.
std::int64_t draw_length(const LengthSpec& spec, Rng& rng);
// The mean before rounding and cutting.
double mean(const LengthSpec& spec);

}  // namespace assay::dataset
