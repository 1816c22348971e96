// The rules of the steady state by runs of whole numbers, whose decisions can be worked out by
// hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/format.h"
#include "base/rng.h"
#include "base/testing_golden.h"
#include "metrics/steady_state.h"

namespace assay::metrics {
namespace {

// A query each 100 ms; 0: it failed.
std::vector<Issued> rule_run(std::size_t queries, const std::function<double(std::size_t)>& tpot) {
  std::vector<Issued> out(queries);
  for (std::size_t i = 0; i < queries; ++i) {
    const double value = tpot(i);
    out[i] = {.sent = Instant{} + 100_ms * static_cast<std::int64_t>(i),
              .tpot = value,
              .tokens = 10,
              .ok = value > 0};
  }
  return out;
}

SteadyState decided(const std::vector<Issued>& run, std::uint64_t pass) {
  return find_steady_state(run, {.super_pass = pass});
}

// Passes of 32 equal replies on a line whose median is 280, or 281.
TEST(SteadyRules, a_line_that_gains_five_percent_drifts_and_one_that_gains_less_is_level) {
  const auto line = [](double first) {
    return decided(
        rule_run(8 * 32,
                 [first](std::size_t i) { return first + 2 * static_cast<double>(i / 32); }),
        32);
  };
  const SteadyState up = line(273);
  EXPECT_EQ(up.verdict, SteadyVerdict::drifting_up);
  ASSERT_EQ(up.metrics.size(), 2U);
  EXPECT_EQ(up.metrics[0].drift, 0.05);
  EXPECT_EQ(up.metrics[0].level, Level::drifting_up);
  EXPECT_EQ(up.metrics[0].low, 273);
  EXPECT_EQ(up.metrics[0].high, 287);
  const SteadyState level = line(274);
  EXPECT_EQ(level.verdict, SteadyVerdict::steady);
  EXPECT_EQ(level.first, 0U);
}

TEST(SteadyRules, a_ramp_that_ends_a_query_after_a_pass_takes_the_next_pass_with_it) {
  const auto first = [](std::size_t ramp) {
    return decided(rule_run(8 * 63, [ramp](std::size_t i) { return i < ramp ? 30e6 : 20e6; }), 63)
        .first;
  };
  EXPECT_EQ(first(64), 2U);
  EXPECT_EQ(first(32), 1U);
}

// Each second of the last five blocks is off: no two in a row are near.
// The first pass is a ramp; the second is within 2 % of a level without any noise.
TEST(SteadyRules, a_block_near_the_level_belongs_to_it_however_exact_the_level_is) {
  const auto first = [](double second) {
    return decided(rule_run(16 * 128,
                            [second](std::size_t i) {
                              return i < 128 ? 26e6 : i < 256 ? second : 20e6;
                            }),
                   128)
        .first;
  };
  EXPECT_EQ(first(20.3e6), 1U);
  EXPECT_EQ(first(20.7e6), 2U);
}

// Level for six passes after fourteen that fall: more than half of the run would go.
TEST(SteadyRules, no_more_than_half_of_a_run_is_taken_for_a_slow_ramp) {
  const auto run = [](std::size_t ramp) {
    return decided(rule_run(20 * 128,
                            [ramp](std::size_t i) {
                              const double left =
                                  1 - static_cast<double>(i) / (128 * static_cast<double>(ramp));
                              return 20e6 * (1 + std::max(left, 0.0));
                            }),
                   128);
  };
  EXPECT_TRUE(run(10).found);
  const SteadyState late = run(14);
  EXPECT_FALSE(late.found);
  EXPECT_EQ(late.verdict, SteadyVerdict::drifting_down);
}

TEST(SteadyRules, a_start_that_is_less_than_a_tenth_off_is_no_ramp) {
  const auto first = [](double start) {
    return decided(rule_run(16 * 128, [start](std::size_t i) { return i < 128 ? start : 20e6; }),
                   128)
        .first;
  };
  EXPECT_EQ(first(21.8e6), 0U);
  EXPECT_EQ(first(22.2e6), 1U);
  EXPECT_EQ(first(18.2e6), 0U);
  EXPECT_EQ(first(17.8e6), 1U);
}

TEST(SteadyRules, the_search_for_the_ramps_end_stops_at_half_of_the_run) {
  const SteadyState state = decided(
      rule_run(10 * 8, [](std::size_t i) { return i < 40           ? 30e6
                                                  : i / 8 % 2 == 1 ? 20e6
                                                                   : 40e6; }),
      8);
  EXPECT_EQ(state.verdict, SteadyVerdict::not_found);
}

// Seven slow passes, then a level that begins with failures: a step, however many they are.
TEST(SteadyRules, replies_that_fail_at_a_step_make_no_ramp_of_it) {
  for (const std::size_t failed : {0U, 31U, 32U, 100U, 120U}) {
    const SteadyState state =
        decided(rule_run(16 * 128,
                         [failed](std::size_t i) {
                           const std::size_t step = std::size_t{7} * 128;
                           return i < step ? 30e6 : i < step + failed ? 0 : 20e6;
                         }),
                128);
    EXPECT_NE(state.verdict, SteadyVerdict::steady) << failed;
    if (failed >= 32) continue;  // an empty block: no step is looked for
    EXPECT_EQ(state.verdict, SteadyVerdict::anomaly) << failed;
    EXPECT_EQ(state.first, 0U) << failed;
    EXPECT_EQ(state.last, 6U) << failed;
    EXPECT_NEAR(state.shift.value_or(0), -1.0 / 3, 1e-9) << failed;
  }
}

TEST(SteadyRules, after_a_ramp_replies_may_fail) {
  const SteadyState state = decided(
      rule_run(8 * 64, [](std::size_t i) { return i < 64   ? 30e6
                                                  : i < 96 ? 0
                                                           : 20e6; }), 64);
  EXPECT_EQ(state.verdict, SteadyVerdict::steady);
  EXPECT_EQ(state.first, 1U);
}

// Four blocks of one pass, two of them slow; then nothing but failures.
TEST(SteadyRules, of_a_run_that_answered_in_its_ramp_only_nothing_is_known) {
  const SteadyState state = decided(
      rule_run(8 * 128, [](std::size_t i) { return i < 64    ? 30e6
                                                   : i < 128 ? 20e6
                                                             : 0; }), 128);
  EXPECT_FALSE(state.found);
  ASSERT_EQ(state.metrics.size(), 2U);
  EXPECT_EQ(state.metrics[0].high, 0);
}

// One run: a shape whose numbers the table's row names.
struct Bend {
  std::uint64_t pass = 1;
  std::uint64_t passes = 4;
  std::size_t bend = 0;    // queries before the level
  double start = 0;        // at the first query; the level is 20
  bool step = false;       // instead of a line to the level
  std::size_t failed = 0;  // queries, from `failed_at` on
  std::size_t failed_at = 0;
};

Bend bend_of(std::uint64_t seed) {
  Rng rng(seed);
  const std::uint64_t sizes[] = {1, 2, 3, 5, 8, 33, 63};
  Bend out;
  out.pass = sizes[rng.below(std::size(sizes))];
  out.passes = 4 + rng.below(12);
  const std::uint64_t queries = out.pass * out.passes;
  out.bend = rng.below(queries * 3 / 4 + 1);
  const double starts[] = {16, 18, 19, 20, 21, 22, 23, 24, 26, 30, 40};
  out.start = starts[rng.below(std::size(starts))];
  out.step = rng.below(2) == 0;
  if (rng.below(3) == 0) {
    out.failed = rng.below(queries / 2);
    out.failed_at = rng.below(2) == 0 ? 0 : out.bend;
  }
  return out;
}

std::vector<Issued> rule_run(const Bend& shape, double unit) {
  return rule_run(shape.pass * shape.passes, [&](std::size_t i) {
    if (i >= shape.failed_at && i < shape.failed_at + shape.failed) return 0.0;
    if (i >= shape.bend) return 20 * unit;
    const double at = static_cast<double>(i) / static_cast<double>(shape.bend);
    return unit * (shape.step ? shape.start : shape.start + at * (20 - shape.start));
  });
}

// The file is for a reader: a shape, and what it is called.
TEST(SteadyRules, short_runs_are_called_what_the_table_says) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Bend shape = bend_of(seed);
    table += format("{} x {}, {} from {} over {}", shape.passes, shape.pass,
                    shape.step ? "step" : "line", shape.start, shape.bend);
    if (shape.failed > 0) table += format(", {} failed at {}", shape.failed, shape.failed_at);
    const SteadyState state = decided(rule_run(shape, 1e6), shape.pass);
    table += format(": {}", to_string(state.verdict));
    if (state.found) table += format(" [{}, {}]", state.first, state.last);
    for (const GatingMetric& one : state.metrics) table += format(" {:.4f}", one.drift);
    table += "\n";
  }
  expect_golden("metrics/steady_rules.txt", table);
}

// A unit that is a power of 2 leaves every digit as it is.
TEST(SteadyRules, decisions_do_not_depend_on_the_unit_of_time) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    const Bend shape = bend_of(seed);
    const SteadyState one = decided(rule_run(shape, 1), shape.pass);
    const SteadyState other = decided(rule_run(shape, 0x1p-40), shape.pass);
    ASSERT_EQ(one.verdict, other.verdict) << seed;
    ASSERT_EQ(one.first, other.first) << seed;
    ASSERT_EQ(one.last, other.last) << seed;
    ASSERT_EQ(one.shift, other.shift) << seed;
    for (std::size_t i = 0; i < one.metrics.size(); ++i) {
      ASSERT_EQ(one.metrics[i].level, other.metrics[i].level) << seed;
      ASSERT_EQ(one.metrics[i].drift, other.metrics[i].drift) << seed;
      ASSERT_EQ(one.metrics[i].drift_error, other.metrics[i].drift_error) << seed;
    }
  }
}

}  // namespace
}  // namespace assay::metrics
