// Lags that are found by trying thousands of them.
#include <gtest/gtest.h>

#include "base/rng.h"
#include "observe/lag.h"
#include "observe/testing_sensor.h"

namespace assay::observe {
namespace {

TEST(LagOfASource, three_tenths_to_three_seconds_come_back_within_a_tenth) {
  const Load load = steps(3, 120);
  for (const Duration lag : {300_ms, 700_ms, 1_s, 2_s, 3_s}) {
    const Lag seen = estimate_lag(load, sensor(load, kPower, lag, 10_ms, 100_ms, 20));
    ASSERT_TRUE(seen.known) << seen.why;
    EXPECT_NEAR(seen.lag.seconds(), lag.seconds(), 0.1 * lag.seconds());
    EXPECT_LE(seen.low, seen.lag);
    EXPECT_GE(seen.high, seen.lag);
  }
}

TEST(LagOfASource, an_average_over_a_second_lags_half_a_second_more) {
  const Load load = steps(5, 120);
  const Lag seen = estimate_lag(load, sensor(load, kPower, 500_ms, 1_s, 100_ms, 20));
  ASSERT_TRUE(seen.known) << seen.why;
  EXPECT_EQ(seen.width, 1_s);
  EXPECT_NEAR(seen.lag.seconds(), 1.0, 0.1);
}

TEST(LagOfASource, a_load_with_a_period_has_no_one_lag) {
  Load load;
  for (int i = 0; i < 12'000; ++i) load.cells.push_back(i % 400 < 200 ? 8 : 0);
  load.sum_up();
  const Lag seen = estimate_lag(load, sensor(load, kPower, 1_s, 10_ms, 100_ms, 5));
  EXPECT_FALSE(seen.known);
  EXPECT_NE(seen.why.find("several lags"), std::string::npos) << seen.why;
}

TEST(LagOfASource, noise_and_a_value_that_never_moves_have_none) {
  const Load load = steps(13, 60);
  Signal noise = sensor(load, kPower, 1_s, 10_ms, 100_ms, 0);
  Rng rng(17);
  for (SignalPoint& point : noise.points) point.value = static_cast<double>(rng.next() % 1000);
  EXPECT_FALSE(estimate_lag(load, noise).known);
  for (SignalPoint& point : noise.points) point.value = 250;
  EXPECT_EQ(estimate_lag(load, noise).why, "it does not follow the load");
  noise.points.resize(5);
  EXPECT_EQ(estimate_lag(load, noise).why, "5 readings; it takes 10");
}

// A card that draws the same whatever it does, read beside a load of a few seconds: of the many
// lags that are tried, some fit the jitter of its readings, above all those at which a few readings
// alone meet the load.
TEST(LagOfASource, jitter_beside_a_short_load_is_none) {
  Load load;
  for (int i = 0; i < 270; ++i) load.cells.push_back(4);
  load.sum_up();
  int known = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed);
    Signal card{.measure = find_measure(kEnergy)};
    for (Instant at = load.origin - 100_ms; at < load.origin + 2'800_ms; at = at + 50_ms) {
      // Now and then a reading is held up.
      const double held_up = rng.below(30) == 0 ? 0.02 : 1e-3;
      const double late = held_up * static_cast<double>(rng.below(1000)) * 1e-3;
      card.points.push_back({.at = at, .value = 300 * (static_cast<double>(at.ns) * 1e-9 + late)});
    }
    known += estimate_lag(load, card).known ? 1 : 0;
  }
  EXPECT_EQ(known, 0);
}

}  // namespace
}  // namespace assay::observe
