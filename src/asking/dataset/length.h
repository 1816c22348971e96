// LengthSpec: how long something is, in tokens: one number, or a distribution to draw from. What
// users write for ISL and OSL:
//
//   512 · fixed:512 · uniform:100-200 · normal:512,64 · lognormal:512,0.5
//
// uniform is inclusive at both ends. normal is mean and standard deviation in tokens. lognormal is
// the median in tokens and sigma of the logarithm. Draws are rounded and cut to [1, kLengthMax];
// they come from base/rng.h, so a seed means the same lengths on every machine.
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
// As parse_length reads it.
std::string to_string(const LengthSpec& spec);
// At least 1.
std::int64_t draw_length(const LengthSpec& spec, Rng& rng);
// Before rounding and cutting.
double mean(const LengthSpec& spec);

}  // namespace assay::dataset
