#include "rules/calendar.h"

#include <chrono>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::rules {
namespace {

std::chrono::year_month_day date_of(Day day) {
  return std::chrono::year_month_day{std::chrono::sys_days{std::chrono::days{day.number}}};
}

}  // namespace

std::optional<Day> Day::parse(std::string_view text) {
  if (text.size() < 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  if (text.size() > 10 && text[10] != 'T') return std::nullopt;
  const auto year = parse_uint(text.substr(0, 4));
  const auto month = parse_uint(text.substr(5, 2));
  const auto day = parse_uint(text.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return Day{static_cast<int>(std::chrono::sys_days{date}.time_since_epoch().count())};
}

std::string Day::text() const {
  const auto date = date_of(*this);
  return format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

int Day::weekday() const {
  // 1970-01-01 was a Thursday.
  return ((number % 7) + 7 + 4) % 7;
}

Result<Holidays> parse_holidays(std::string_view text) {
  Holidays out;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const std::string_view said = trim(line.substr(0, line.find('#')));
    if (said.empty()) continue;
    const std::string_view date = said.substr(0, said.find_first_of(" \t"));
    const auto day = date.size() == 10 ? Day::parse(date) : std::nullopt;
    if (!day) {
      return invalid(format("line {}: '{}' is not a date; a line is as \"2026-12-25 Christmas\"",
                            number, date.substr(0, 40)));
    }
    out.insert(*day);
  }
  return out;
}

bool is_business_day(Day day, const Holidays& holidays) {
  return day.weekday() != 0 && day.weekday() != 6 && !holidays.contains(day);
}

Day plus_business_days(Day day, int n, const Holidays& holidays) {
  CHECK(n >= 0);
  while (n > 0) {
    day = day.plus(1);
    if (is_business_day(day, holidays)) --n;
  }
  return day;
}

int business_days_between(Day from, Day to, const Holidays& holidays) {
  if (to < from) return -business_days_between(to, from, holidays);
  int count = 0;
  while (from < to) {
    from = from.plus(1);
    if (is_business_day(from, holidays)) ++count;
  }
  return count;
}

rulebook::Cohort cohort_after(Day ready) {
  const Day earliest = plus_business_days(ready, 1, {});
  const auto date = date_of(ready);
  const auto first = rulebook::Cohort::parse(
      format("{:04}-{:02}-C0", static_cast<int>(date.year()), static_cast<unsigned>(date.month())));
  CHECK(first.has_value());
  rulebook::Cohort cohort = *first;
  while (Day::parse(cohort.date()) < earliest) ++cohort.number;
  return cohort;
}

}  // namespace assay::rules
