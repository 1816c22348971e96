#include "report/quantity.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::report {
namespace {

// "2.50 s" -> "2.5 s", "100.0 ms" -> "100 ms"; thousands and units stay.
std::string without_trailing_zeros(std::string text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return text;
  std::size_t end = point + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  std::size_t keep = end;
  while (keep > point + 1 && text[keep - 1] == '0') --keep;
  if (keep == point + 1) keep = point;
  return text.erase(keep, end - keep);
}

// 0 · 0.5 s · 30 s · 5 min · 1:30 min · 1 h 30 min
std::string elapsed_tick(double ns) {
  const double seconds = ns / 1e9;
  if (seconds == 0) return "0";
  if (seconds < 60) return without_trailing_zeros(three_digits(seconds)) + " s";
  const auto whole = std::llround(seconds);
  if (whole < 3600) {
    return whole % 60 == 0 ? format("{} min", whole / 60)
                           : format("{}:{:02} min", whole / 60, whole % 60);
  }
  return whole % 3600 == 0 ? format("{} h", whole / 3600)
                           : format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

Duration as_duration(double ns) { return Duration{std::llround(ns)}; }

}  // namespace

std::string quantity_text(Quantity quantity, double value) {
  switch (quantity) {
    case Quantity::count:
      return value == std::floor(value) && std::fabs(value) < 1e15
                 ? with_thousands(std::llround(value))
                 : three_digits(value);
    case Quantity::tokens_per_second:
      return three_digits(value) + " tok/s";
    case Quantity::rate:
      return three_digits(value) + "/s";
    case Quantity::duration:
      return human_duration(as_duration(value));
    case Quantity::elapsed:
      return clock_text(as_duration(value));
    case Quantity::share:
      return share_text(value);
    case Quantity::times:
      return three_digits(value) + " ×";
  }
  CHECK(false && "no such Quantity");
  return {};
}

std::string tick_text(Quantity quantity, double value) {
  if (value == 0) return quantity == Quantity::share ? "0 %" : "0";
  switch (quantity) {
    case Quantity::count:
    case Quantity::tokens_per_second:
    case Quantity::rate:
    case Quantity::times:
      return without_trailing_zeros(three_digits(value));
    case Quantity::duration:
      return without_trailing_zeros(human_duration(as_duration(value)));
    case Quantity::elapsed:
      return elapsed_tick(value);
    case Quantity::share:
      return without_trailing_zeros(three_digits(value * 100)) + " %";
  }
  CHECK(false && "no such Quantity");
  return {};
}

std::string clock_text(Duration elapsed) {
  const std::int64_t seconds = std::max<std::int64_t>(0, elapsed.ns / 1'000'000'000);
  if (seconds >= 3600) {
    return format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  }
  return format("{}:{:02}", seconds / 60, seconds % 60);
}

std::string share_text(double share) {
  if (share > 0 && share < 1e-5) return "under 0.001 %";
  // Less than all must not be printed as all.
  if (share < 1 && share * 100 >= 99.95) return format("{:.3f} %", std::floor(share * 1e5) / 1e3);
  return three_digits(share * 100) + " %";
}

}  // namespace assay::report
