// Equal runs are drawn from a known law, so the rate of false alarms and the share of found changes
// are known too. Seeds are fixed: a count is the same on every machine.
#include "compare/noise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/noise_answer.h"
#include "compare/repeats.h"

namespace assay::compare {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// Runs whose figures differ by `deviation` on the logarithmic scale. `slower`: of times, as a
// share; rates fall by the same factor.
std::vector<RunFigures> draw(std::size_t runs, double deviation, double slower, Rng& rng,
                             const CompareOptions& options) {
  std::vector<RunFigures> out(runs);
  for (RunFigures& run : out) {
    for (const ComparedMetric metric : options.metrics) {
      const double harm = std::log1p(slower) + deviation * rng.normal();
      run.of.push_back({1e6 * std::exp(higher_is_better(metric) ? -harm : harm), 0.3, {}});
    }
  }
  return out;
}

Comparison compared(std::vector<RunFigures> a, std::vector<RunFigures> b,
                    std::vector<RunFigures> noise, const CompareOptions& options) {
  Comparison out;
  compare_repeats({.name = "a", .runs = std::move(a)}, {.name = "b", .runs = std::move(b)},
                  {.name = "noise", .runs = std::move(noise)}, options, out);
  return out;
}

TEST(Noise, equal_runs_raise_a_false_alarm_in_at_most_one_of_twenty) {
  // Without a margin every true difference would count, and there is none.
  const CompareOptions options{.regression_margin = 0};
  for (const std::size_t learned : {2U, 5U}) {
    Rng rng(learned);
    int alarms = 0;
    constexpr int kPairs = 4000;
    for (int i = 0; i < kPairs; ++i) {
      const auto noise = draw(learned, 0.04, 0, rng, options);
      const auto a = draw(2, 0.04, 0, rng, options);
      if (compared(a, draw(1, 0.04, 0, rng, options), noise, options).worse()) ++alarms;
    }
    // Seven independent metrics: Holm's bound is nearly reached, and never passed.
    EXPECT_LE(alarms, kPairs / 20 + 42) << learned;  // three deviations
    EXPECT_GE(alarms, kPairs / 20 - 42) << learned;
  }
}

TEST(Noise, the_runs_that_it_asks_for_find_the_change_nine_times_in_ten) {
  for (const std::size_t learned : {3U, 8U}) {
    const CompareOptions options{.metrics = {ComparedMetric::kTtftP90}};
    Rng rng(100 + learned);
    int found = 0;
    double asked = 0;
    constexpr int kTrials = 1500;
    for (int i = 0; i < kTrials; ++i) {
      const auto noise = draw(learned, 0.02, 0, rng, options);
      const auto n = runs_needed(spread_of({&noise}, 0), {.change = 0.05, .tail = options.alpha});
      ASSERT_TRUE(n.has_value());
      asked += static_cast<double>(*n);
      const auto a = draw(*n, 0.02, 0, rng, options);
      if (compared(a, draw(*n, 0.02, 0.05, rng, options), noise, options).worse()) ++found;
    }
    EXPECT_GE(found, kTrials * 9 / 10 - 35) << learned;  // three deviations
    // It does not ask for far more than it needs either: with σ known, 2 (1.64 + 1.28)² (σ ÷ δ)².
    const double least = 2 * std::pow(1.645 + 1.282, 2) * std::pow(0.02 / std::log(1.05 / 1.01), 2);
    EXPECT_LT(asked / kTrials, (learned == 8 ? 1.9 : 4) * (least + 1)) << learned;
  }
}

// The same probability by drawing instead of by integrals.
double power_by_drawing(const Spread& s, const PowerQuestion& q, std::size_t n, Rng& rng) {
  const auto chi_square = [&rng](double degrees) {
    double out = 0;
    for (int i = 0; i < static_cast<int>(degrees); ++i) out += std::pow(rng.normal(), 2);
    return out;
  };
  const double fresh = 2 * static_cast<double>(n) - 2;
  const double critical = student_quantile(q.tail, s.degrees + fresh);
  int found = 0;
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) {
    const double sigma = s.deviation * std::sqrt(s.degrees / chi_square(s.degrees));
    const double pooled =
        std::sqrt((s.degrees * s.deviation * s.deviation + sigma * sigma * chi_square(fresh)) /
                  (s.degrees + fresh));
    const double reach = std::sqrt(2 / static_cast<double>(n));
    const double effect =
        std::log1p(q.change) - std::log1p(q.margin) - q.room + sigma * reach * rng.normal();
    if (effect > critical * pooled * reach) ++found;
  }
  return static_cast<double>(found) / kDraws;
}

TEST(Noise, the_probability_to_find_a_change_equals_that_of_drawing_it) {
  Rng rng(5);
  for (const double degrees : {1.0, 2.0, 4.0, 12.0}) {
    for (const double deviation : {0.005, 0.02, 0.05}) {
      for (const std::size_t n : {1U, 2U, 7U}) {
        const Spread s{.deviation = deviation, .degrees = degrees};
        const PowerQuestion q{.change = 0.05, .room = 0.004, .tail = 0.05 / 3};
        EXPECT_NEAR(power_of(s, q, n), power_by_drawing(s, q, n, rng), 0.012)
            << degrees << " " << deviation << " " << n;
      }
    }
  }
}

TEST(Noise, more_is_asked_for_where_runs_differ_more_or_the_change_is_smaller) {
  std::size_t last = 0;
  for (const double deviation : {0.0, 0.005, 0.01, 0.02, 0.04}) {
    const auto n = runs_needed({.deviation = deviation, .degrees = 5}, {.change = 0.05});
    ASSERT_TRUE(n.has_value());
    EXPECT_GE(*n, std::max<std::size_t>(last, 1));
    last = *n;
  }
  const Spread spread{.deviation = 0.02, .degrees = 5};
  EXPECT_GT(*runs_needed(spread, {.change = 0.03}), *runs_needed(spread, {.change = 0.06}));
  EXPECT_GT(*runs_needed(spread, {.power = 0.99}), *runs_needed(spread, {.power = 0.8}));
  EXPECT_GT(*runs_needed(spread, {.tail = 0.005}), *runs_needed(spread, {.tail = 0.05}));
  // The least number: one fewer is too few.
  const std::size_t n = *runs_needed(spread, {});
  EXPECT_GE(power_of(spread, {}, n), 0.9);
  EXPECT_LT(power_of(spread, {}, n - 1), 0.9);
  // No number shows what the margin or the clients hide, nor a hundredth of the noise.
  EXPECT_FALSE(runs_needed(spread, {.change = 0.01, .margin = 0.01}));
  EXPECT_FALSE(runs_needed(spread, {.change = 0.05, .room = 0.05}));
  EXPECT_FALSE(runs_needed({.deviation = 2, .degrees = 5}, {.change = 0.05}));
}

TEST(Noise, the_spread_is_pooled_over_groups_around_their_own_means) {
  const auto runs = [](std::vector<double> logs, double within) {
    std::vector<RunFigures> out;
    for (const double log : logs) out.push_back({.of = {{std::exp(log), within, {}}}});
    return out;
  };
  const auto a = runs({1.0, 1.2}, 0.1);       // squares 0.02
  const auto b = runs({5.0, 5.1, 5.2}, 0.3);  // squares 0.02
  const auto c = runs({9.0}, 0.2);            // one run says nothing of how runs differ
  const Spread spread = spread_of({&a, &b, &c}, 0);
  EXPECT_EQ(spread.degrees, 3);
  EXPECT_NEAR(spread.deviation, std::sqrt(0.04 / 3), 1e-12);
  EXPECT_NEAR(spread.within, std::sqrt((2 * 0.01 + 3 * 0.09 + 0.04) / 6), 1e-12);
  auto lacking = a;
  lacking[0].of[0].value = 0;  // has no such figure
  EXPECT_EQ(spread_of({&lacking}, 0).degrees, 0);
  EXPECT_EQ(spread_of({&c}, 0).degrees, 0);
}

TEST(Noise, what_a_client_may_have_added_counts_against_a_verdict_on_repeats_too) {
  const CompareOptions options{.metrics = {ComparedMetric::kTpotP50}};
  Rng rng(3);
  auto a = draw(4, 0.001, 0, rng, options);
  auto b = draw(4, 0.001, 0.05, rng, options);
  const Comparison sure = compared(a, b, {}, options);
  EXPECT_TRUE(sure.worse());
  EXPECT_NEAR(sure.metrics[0].effect, 0.05, 0.005);
  ASSERT_TRUE(sure.repeats.has_value());
  EXPECT_EQ(sure.repeats->a, 4U);
  EXPECT_EQ(sure.repeats->degrees, 6);
  for (RunFigures& run : b) run.of[0].room.below = 0.06;
  const Comparison unsure = compared(a, b, {}, options);
  EXPECT_FALSE(unsure.worse());
  EXPECT_NEAR(std::log1p(unsure.metrics[0].low), std::log1p(sure.metrics[0].low) - 0.06, 1e-9);
}

TEST(Noise, sides_that_were_not_run_in_turns_are_told) {
  const CompareOptions options{.metrics = {ComparedMetric::kTpotP50}};
  Rng rng(4);
  const auto notes = [&](std::vector<WallTime> a, std::vector<WallTime> b) {
    Comparison out;
    compare_repeats({.name = "a", .runs = draw(2, 0.01, 0, rng, options), .started = std::move(a)},
                    {.name = "b", .runs = draw(2, 0.01, 0, rng, options), .started = std::move(b)},
                    {}, options, out);
    return out.notes;
  };
  EXPECT_THAT(notes({{1}, {2}}, {{3}, {4}}), Contains(HasSubstr("all runs of A came before")));
  EXPECT_THAT(notes({{3}, {4}}, {{1}, {2}}), Contains(HasSubstr("all runs of B came before")));
  EXPECT_THAT(notes({{1}, {3}}, {{2}, {4}}), IsEmpty());
}

TEST(Noise, the_answer_names_each_metric_and_what_no_run_has) {
  const CompareOptions options{.metrics = {ComparedMetric::kTtftP90, ComparedMetric::kSystemTps}};
  Rng rng(9);
  Repeats repeats{.name = "equal", .runs = draw(6, 0.01, 0, rng, options)};
  for (RunFigures& run : repeats.runs) run.of[1].value = 0;
  const NoiseAnswer answer = noise_answer(repeats, {0.02, 0.05}, 0.9, options, {});
  ASSERT_EQ(answer.metrics.size(), 1U);
  EXPECT_EQ(answer.metrics[0].runs.size(), 2U);
  EXPECT_EQ(answer.metrics[0].runs[1],
            runs_needed(answer.metrics[0].spread, {.change = 0.05, .tail = 0.05 / 2}));
  EXPECT_THAT(answer.notes, Contains("system_tps: no two runs have it"));
  const Json json = noise_json(answer);
  EXPECT_EQ(json["metrics"].items()[0]["metric"].as_string(), "ttft_p90");
  EXPECT_TRUE(noise_answer(repeats, {0.02}, 0.9, options, {"other work"}).metrics.empty());
}

}  // namespace
}  // namespace assay::compare
