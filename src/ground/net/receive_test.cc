#include "net/receive.h"

#include <gtest/gtest.h>

namespace assay::net {
namespace {

constexpr Instant kBefore{1'000'000'000};
constexpr Instant kRead{1'200'000'000};

WallTime stamp_at(Instant at, const ClockOffset& offset) {
  return {at.ns + offset.wall_minus_monotonic.ns};
}

TEST(StampClock, maps_a_stamp_and_never_beyond_the_read) {
  const ClockOffset offset{.wall_minus_monotonic = 1_s, .error = 5_us};
  StampClock clock(offset);
  EXPECT_EQ(clock.arrival(stamp_at(kBefore + 30_ms, offset), kBefore, kRead), kBefore + 30_ms);
  EXPECT_EQ(clock.arrival(stamp_at(kRead + 2_us, offset), kBefore, kRead), kRead);
  EXPECT_EQ(clock.slew_max(), Duration{});
}

// Durations come from the monotonic clock alone. The stamps are the wall clock's, so a wall clock
// that is set in the middle of a run must not move an arrival.
TEST(StampClock, a_wall_clock_that_was_set_is_noticed_at_the_first_stamp) {
  for (const Duration step : {5_s, Duration{} - 5_s, 3600_s}) {
    const ClockOffset now = sample_clock_offset();
    const ClockOffset old{.wall_minus_monotonic = now.wall_minus_monotonic - step};
    StampClock clock(old);
    const Instant read = OsClock().now();
    const Instant arrival = clock.arrival(stamp_at(read - 1_ms, now), read - 50_ms, read);
    ASSERT_TRUE(arrival.known());
    EXPECT_LE(std::abs((arrival - (read - 1_ms)).ns), (1_ms).ns);
    EXPECT_GE(clock.slew_max(), 4_s);
    // One that was made before the clock was set, and read behind it, is of no use.
    EXPECT_FALSE(clock.arrival(stamp_at(read - 1_ms, old), read - 50_ms, read).known());
  }
}

}  // namespace
}  // namespace assay::net
