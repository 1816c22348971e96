#include "net/retry_after.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <limits>

namespace assay::net {
namespace {

// The whole `text` as a number; -1 if it is none.
int number(std::string_view text) {
  int out = -1;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, out);
  return error == std::errc{} && end == last ? out : -1;
}

// As `number`; more seconds than fit are as many as fit.
std::int32_t seconds_of(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return -1;
  const int seconds = number(text);
  return seconds >= 0 ? seconds : std::numeric_limits<std::int32_t>::max();
}

}  // namespace

std::int64_t http_date_s(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  // Wed, 21 Oct 2015 07:28:00 GMT
  constexpr std::size_t kLength = 29;
  if (text.size() != kLength || !text.ends_with(" GMT") || text[3] != ',') return -1;
  const auto month = std::ranges::find(kMonths, text.substr(8, 3));
  const int day = number(text.substr(5, 2));
  const int year = number(text.substr(12, 4));
  const int hour = number(text.substr(17, 2));
  const int minute = number(text.substr(20, 2));
  const int second = number(text.substr(23, 2));
  if (month == kMonths.end() || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 60) {
    return -1;
  }
  const std::chrono::year_month_day date{
      std::chrono::year(year),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(std::max(day, 0)))};
  if (!date.ok() || year < 1970) return -1;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

void RetryAfter::take_retry_after(std::string_view value) {
  wait_s_ = seconds_of(value);
  at_s_ = http_date_s(value);
}

std::int32_t RetryAfter::seconds() const {
  if (wait_s_ >= 0) return wait_s_;
  if (at_s_ < 0 || date_s_ < 0) return -1;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(at_s_ - date_s_, 0, kMost));
}

}  // namespace assay::net
