// Numbers of another tool's file, each within what can be true: an instant that a clock of ours has
// room for, a time that is not below nothing, a count of tokens. Anything else is Code::invalid and
// says where: a figure that was quietly made 0 would be reported as if it were measured. Pure.
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

// Nanoseconds since 1970 up to the year 2096, so that no difference of two of them overflows.
inline Result<std::int64_t> foreign_stamp(const Json& value, std::string_view where) {
  constexpr std::int64_t kMost = 4'000'000'000'000'000'000;
  if (!value.is_integer()) return invalid(format("{}: missing, or no whole number", where));
  const std::int64_t ns = value.as_int(-1);
  if (ns < 0 || ns > kMost) return invalid(format("{}: no time in ns since 1970", where));
  return ns;
}

// `unit_ns`: how many nanoseconds 1 is. At most some thirty years.
inline Result<Duration> foreign_time(const Json& value, double unit_ns, std::string_view where) {
  constexpr double kMostNs = 1e18;
  if (!value.is_number()) return invalid(format("{}: not a number", where));
  const double ns = value.as_double() * unit_ns;
  if (!(ns >= 0 && ns <= kMostNs)) return invalid(format("{}: no time that can be true", where));
  return Duration{std::llround(ns)};
}

// Of tokens; -1 where the file has none.
inline Result<std::int32_t> foreign_count(const Json& value, std::string_view where) {
  if (value.is_null()) return -1;
  const double count = value.is_number() ? value.as_double() : -1;
  if (!(count >= 0 && count <= std::numeric_limits<std::int32_t>::max())) {
    return invalid(format("{}: no count of tokens", where));
  }
  return static_cast<std::int32_t>(count);
}

}  // namespace assay::interchange
