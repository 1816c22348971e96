// Numbers of another tool's file, checked against what is possible: an instant within our clock's
// range, a time that is not negative, a count of tokens. Any other value is Code::invalid with its
// place in the file: a bad figure read as 0 would be reported as a measurement. Pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/format.h"
#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace assay::interchange {

// Reads nanoseconds since 1970, up to the year 2096, so that no difference of two overflows.
inline Result<std::int64_t> foreign_stamp(const Json& value, std::string_view where) {
  constexpr std::int64_t kMost = 4'000'000'000'000'000'000;
  if (!value.is_integer()) return invalid(format("{}: missing, or no whole number", where));
  const std::int64_t ns = value.as_int(-1);
  if (ns < 0 || ns > kMost) return invalid(format("{}: no time in ns since 1970", where));
  return ns;
}

// Reads a time of at most about thirty years. `unit_ns`: nanoseconds in one unit.
inline Result<Duration> foreign_time(const Json& value, double unit_ns, std::string_view where) {
  constexpr double kMostNs = 1e18;
  if (!value.is_number()) return invalid(format("{}: not a number", where));
  const double ns = value.as_double() * unit_ns;
  if (!(ns >= 0 && ns <= kMostNs)) return invalid(format("{}: no time that can be true", where));
  return Duration{std::llround(ns)};
}

// Reads a count of tokens; -1 where the file has none.
inline Result<std::int32_t> foreign_count(const Json& value, std::string_view where) {
  if (value.is_null()) return -1;
  const double count = value.is_number() ? value.as_double() : -1;
  if (!(count >= 0 && count <= std::numeric_limits<std::int32_t>::max())) {
    return invalid(format("{}: no count of tokens", where));
  }
  return static_cast<std::int32_t>(count);
}

}  // namespace assay::interchange
