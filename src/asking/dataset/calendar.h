// Days of the calendar, for the instants of traces.
#pragma once

#include <cstdint>

namespace assay::dataset {

// Days from 1970-01-01 to a day of the Gregorian calendar (Howard Hinnant, "chrono-compatible
// low-level date algorithms"). REQUIRES: year > 0.
constexpr std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = year / 400;
  const std::int64_t yoe = year - era * 400;
  const std::int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

}  // namespace assay::dataset
