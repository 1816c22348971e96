// Calendar days and business days, as the rules' deadlines count them: Monday to Friday, without
// the holidays that whoever owes something has declared. A due date is counted from the day after.
//
// A Day is a date without time or zone, counted from 1970-01-01; instants become days in UTC. Pure;
// any thread.
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

  // 2026-11-20; the time after it in RFC 3339 is passed over. Nothing for any other text.
  static std::optional<Day> parse(std::string_view text);
  std::string text() const;
  int weekday() const;  // 0 Sunday … 6 Saturday
  Day plus(int days) const { return {number + days}; }
  auto operator<=>(const Day&) const = default;
};

using Holidays = std::set<Day>;

// One date a line, "2026-12-25", with whatever words after it; "#" begins a comment. A line that is
// neither is an error that names it.
Result<Holidays> parse_holidays(std::string_view text);

bool is_business_day(Day day, const Holidays& holidays);
// The n-th business day after `day`. REQUIRES: n >= 0; 0 gives the day itself.
Day plus_business_days(Day day, int n, const Holidays& holidays);
// Business days after `from` up to and with `to`; negative when `to` is before.
int business_days_between(Day from, Day to, const Holidays& holidays);

// The first cohort that is published at least one business day after `ready`.
rulebook::Cohort cohort_after(Day ready);

}  // namespace assay::rules
