#include "observe/lag.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "observe/testing_sensor.h"

namespace assay::observe {
namespace {

TEST(LagOfASource, a_counter_is_a_mean_between_its_readings) {
  const Load load = steps(9, 120);
  const Lag seen = estimate_lag(load, sensor(load, kEnergy, 1_s, {}, 500_ms, 10));
  ASSERT_TRUE(seen.known) << seen.why;
  EXPECT_NEAR(seen.lag.seconds(), 1.0, 0.1);
}

TEST(LagOfASource, half_a_minute_of_an_exporter_is_seen) {
  const Load load = steps(11, 180);
  const Lag seen = estimate_lag(load, sensor(load, kPower, 30_s, 10_ms, 1_s, 20));
  ASSERT_TRUE(seen.known) << seen.why;
  EXPECT_NEAR(seen.lag.seconds(), 30.0, 0.3);
}

Query query_no(std::uint32_t index) {
  Query query{};
  query.index = index;
  return query;
}

TEST(LoadOfARun, is_the_mean_of_the_queries_in_flight_and_keeps_its_area_when_cells_widen) {
  LoadFold fold;
  const auto send = [&](std::uint32_t index, Instant at) { fold.on_sent(query_no(index), at, at); };
  const auto end = [&](std::uint32_t index, Instant sent, Instant at) {
    Event event{};
    event.query = query_no(index);
    event.sent = sent;
    event.done = at;
    fold.on_done(event, "");
  };
  const Instant zero{5'000'000'000};
  send(0, zero);
  send(1, zero + 15_ms);
  end(0, zero, zero + 25_ms);
  end(1, zero + 15_ms, zero + 1'000_s * 12);  // 200 minutes: wider cells
  const Load load = fold.finish();
  EXPECT_EQ(load.width, 40_ms);
  const double area = load.mean(zero, zero + 1'000_s * 12) * 12'000;
  EXPECT_NEAR(area, 0.025 + (12'000 - 0.015), 1e-6);
  EXPECT_NEAR(load.mean(zero + 100_s, zero + 200_s), 1, 1e-9);
  EXPECT_EQ(load.mean(zero - 10_s, zero), 0);
}

}  // namespace
}  // namespace assay::observe
