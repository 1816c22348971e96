#include "campaign/power_log.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::campaign {
namespace {

// Samples of an analyzer seven hours behind, one a second up to 10:00:09 of the wall clock.
std::string log_of(int hours) {
  std::string out;
  for (int second = 0; second < 10; ++second) {
    out += format("Time,11-23-2026 {:02}:00:{:02}.000,Watts,{},Volts,230,Amps,2,PF,1,Mark,m\n",
                  10 + hours, second, 100 + second);
  }
  return out + "nonsense\n";
}

// 2026-11-23 10:00:10 UTC
constexpr WallTime kStopped{1'795'428'010'000'000'000};

TEST(PowerLog, stamps_of_any_zone_come_onto_the_runs_clock) {
  const Duration wall_minus_run = Duration{kStopped.ns} - 1000_s;
  for (const int hours : {-7, 0, 9}) {
    const auto read = telemetry_of_power_log(log_of(hours), kStopped, wall_minus_run);
    ASSERT_TRUE(read) << read.error().message;
    ASSERT_EQ(read->readings.size(), 10U);
    EXPECT_EQ(read->readings.back().at, Instant{} + 999_s);
    EXPECT_EQ(read->readings.front().at, Instant{} + 990_s);
    EXPECT_EQ(read->readings.front().values.front().second, 100);
    EXPECT_EQ(read->costs.front().unreadable, 1U);
  }
}

TEST(PowerLog, a_log_of_another_time_or_without_samples_is_an_error) {
  EXPECT_FALSE(telemetry_of_power_log(log_of(0), WallTime{kStopped.ns + 200'000'000'000}, {}));
  EXPECT_FALSE(telemetry_of_power_log("", kStopped, {}));
}

}  // namespace
}  // namespace assay::campaign
