#include "observe/lag.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace assay::observe {
namespace {

constexpr std::string_view kPower = "gpu_power_w";
constexpr std::string_view kEnergy = "gpu_energy_j";

// A load that is on and off for seconds of random length.
Load steps(std::uint64_t seed, std::int64_t seconds) {
  Load load;
  Rng rng(seed);
  double level = 0;
  std::int64_t left = 0;
  for (std::int64_t i = 0; i < seconds * 100; ++i) {
    if (left-- <= 0) {
      level = level > 0 ? 0 : 8;
      left = 300 + static_cast<std::int64_t>(rng.next() % 900);
    }
    load.cells.push_back(level);
  }
  load.sum_up();
  return load;
}

// What a sensor would show of it: idle + gain × load, late, averaged, with noise.
Signal sensor(const Load& load, std::string_view id, Duration lag, Duration width,
              Duration interval, double noise) {
  Signal out{.measure = find_measure(id)};
  Rng rng(7);
  double joules = 0;
  const Instant end = load.origin + load.width * static_cast<std::int64_t>(load.cells.size());
  for (Instant at = load.origin; at < end; at = at + interval) {
    const double spread = noise * (static_cast<double>(rng.next() % 2001) / 1000 - 1);
    if (id == kEnergy) {
      joules += (60 + 40 * load.mean(at - interval - lag, at - lag) + spread) * interval.seconds();
      out.points.push_back({.at = at, .value = joules});
    } else {
      out.points.push_back(
          {.at = at, .value = 60 + 40 * load.mean(at - width - lag, at - lag) + spread});
    }
  }
  return out;
}

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
