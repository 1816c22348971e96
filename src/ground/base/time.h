// Instant and Duration: two types, so that the compiler refuses the sum of two instants.
//
// Both count whole nanoseconds in 64 bits (292 years). An Instant is a moment of one Clock and has
// no meaning on another: OsClock's is CLOCK_MONOTONIC, SimClock's starts at zero. Never subtract
// instants of two machines. WallTime is nanoseconds since 1970 UTC, only for people and for file
// headers.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>
#include <string>

namespace assay {

struct Duration {
  std::int64_t ns = 0;

  constexpr double seconds() const { return static_cast<double>(ns) * 1e-9; }
  constexpr double ms() const { return static_cast<double>(ns) * 1e-6; }
  constexpr double us() const { return static_cast<double>(ns) * 1e-3; }
  static constexpr Duration max() { return {std::numeric_limits<std::int64_t>::max()}; }
  // Rounds to the nearest nanosecond. REQUIRES: the result fits in 63 bits.
  static constexpr Duration from_seconds(double s) {
    return {static_cast<std::int64_t>(s * 1e9 + (s < 0 ? -0.5 : 0.5))};
  }

  constexpr auto operator<=>(const Duration&) const = default;
  constexpr Duration operator-() const { return {-ns}; }
  constexpr Duration& operator+=(Duration other) {
    ns += other.ns;
    return *this;
  }
};

constexpr Duration operator+(Duration a, Duration b) { return {a.ns + b.ns}; }
constexpr Duration operator-(Duration a, Duration b) { return {a.ns - b.ns}; }
constexpr Duration operator*(Duration a, std::int64_t n) { return {a.ns * n}; }
constexpr Duration operator/(Duration a, std::int64_t n) { return {a.ns / n}; }

struct Instant {
  std::int64_t ns = 0;

  static constexpr Instant max() { return {std::numeric_limits<std::int64_t>::max()}; }
  // "Not seen": a milestone that a reply did not reach.
  static constexpr Instant none() { return {std::numeric_limits<std::int64_t>::min()}; }
  constexpr bool known() const { return *this != none(); }

  constexpr auto operator<=>(const Instant&) const = default;
};

// Saturates at Instant::max(), so that "wait for ever" survives arithmetic.
constexpr Instant operator+(Instant at, Duration d) {
  if (d.ns > 0 && at.ns > Instant::max().ns - d.ns) return Instant::max();
  return {at.ns + d.ns};
}
constexpr Instant operator-(Instant at, Duration d) { return {at.ns - d.ns}; }
constexpr Duration operator-(Instant a, Instant b) { return {a.ns - b.ns}; }

struct WallTime {
  std::int64_t ns = 0;
};

// 2026-11-20T14:48:22.123456789Z
std::string rfc3339(WallTime time);
// 20261120_144822, UTC: for names of folders.
std::string compact_stamp(WallTime time);

inline namespace literals {
constexpr Duration operator""_ns(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Duration operator""_us(unsigned long long n) {
  return {static_cast<std::int64_t>(n) * 1'000};
}
constexpr Duration operator""_ms(unsigned long long n) {
  return {static_cast<std::int64_t>(n) * 1'000'000};
}
constexpr Duration operator""_s(unsigned long long n) {
  return {static_cast<std::int64_t>(n) * 1'000'000'000};
}
}  // namespace literals

}  // namespace assay
