// Calendar days and business days for the rules' deadlines: Monday to Friday, without the holidays
// that the responsible party has declared. A due date is counted from the next day.
//
// A Day is a date without time or zone, counted from 1970-01-01; an instant becomes its day in UTC.
// Pure; any thread.
#pragma once

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "rulebook/cohort.h"

namespace assay::rules {

struct Day {
  int number = 0;

  // Parses 2026-11-20 and ignores an RFC 3339 time after it. Returns nullopt for any other text.
  static std::optional<Day> parse(std::string_view text);
  std::string text() const;
  int weekday() const;  // 0 Sunday … 6 Saturday
  Day plus(int days) const { return {number + days}; }
  auto operator<=>(const Day&) const = default;
};

using Holidays = std::set<Day>;

// One date a line, "2026-12-25", optionally with words after it; "#" begins a comment. Any other
// line is an error that names it.
Result<Holidays> parse_holidays(std::string_view text);

bool is_business_day(Day day, const Holidays& holidays);
// Returns the n-th business day after `day`. REQUIRES: n >= 0; 0 gives the day itself.
Day plus_business_days(Day day, int n, const Holidays& holidays);
// Counts business days after `from` until `to` inclusive; negative when `to` is before.
int business_days_between(Day from, Day to, const Holidays& holidays);

// Returns the first cohort that is published at least one business day after `ready`.
rulebook::Cohort cohort_after(Day ready);

}  // namespace assay::rules
