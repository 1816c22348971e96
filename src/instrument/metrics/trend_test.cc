// The statistics of a series against slow twins written from the papers' formulas: the twins count
// pairs where the code ranks, and use sums where the code folds.
#include "metrics/trend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/rng.h"

namespace assay::metrics {
namespace {

using Values = std::vector<double>;

double twin_mean(const Values& values) {
  long double sum = 0;
  for (const double value : values) sum += value;
  return static_cast<double>(sum / static_cast<long double>(values.size()));
}

double twin_median(Values values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// The rank by counting: the smaller values, and half of the other equal ones.
Values twin_ranks(const Values& values) {
  Values out;
  for (const double value : values) {
    const auto below =
        std::count_if(values.begin(), values.end(), [&](double v) { return v < value; });
    const auto equal = std::count(values.begin(), values.end(), value);
    out.push_back(static_cast<double>(below) + (static_cast<double>(equal) + 1) / 2);
  }
  return out;
}

double twin_autocorrelation(const Values& values, std::size_t lag) {
  const double mean = twin_mean(values);
  double together = 0;
  double all = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all += (values[i] - mean) * (values[i] - mean);
    if (i + lag < values.size()) together += (values[i] - mean) * (values[i + lag] - mean);
  }
  return all == 0 ? 0 : together / all;
}

// Hamed and Rao: 1 + 2 / (n (n − 1) (n − 2)) · Σ (n − k) (n − k − 1) (n − k − 2) ρ(k), over the
// lags up to n − 3 whose correlation is real.
double twin_correction(const Values& ranks) {
  const auto n = static_cast<double>(ranks.size());
  double sum = 0;
  for (std::size_t lag = 1; lag <= ranks.size() - 3; ++lag) {
    const double rho = twin_autocorrelation(ranks, lag);
    const auto k = static_cast<double>(lag);
    if (std::abs(rho) >= 1.96 / std::sqrt(n)) sum += (n - k) * (n - k - 1) * (n - k - 2) * rho;
  }
  return std::max(1.0, 1 + 2 * sum / (n * (n - 1) * (n - 2)));
}

Trend twin_trend(const Values& values) {
  const auto n = static_cast<double>(values.size());
  Values slopes;
  double pairs = 0;
  for (std::size_t j = 0; j < values.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
      pairs += values[j] > values[i] ? 1 : values[j] < values[i] ? -1 : 0;
    }
  }
  const double slope = twin_median(slopes);
  Values rest;
  for (std::size_t i = 0; i < values.size(); ++i) {
    rest.push_back(values[i] - slope * static_cast<double>(i));
  }
  const double grown = twin_correction(twin_ranks(rest));
  const double level = twin_median(values);
  const double variance = n * (n - 1) * (2 * n + 5) / 18 * grown;
  const double z = pairs == 0 ? 0 : (std::abs(pairs) - 1) / std::sqrt(variance);
  const double mean = twin_mean(rest);
  double squares = 0;
  for (const double value : rest) squares += (value - mean) * (value - mean);
  const double error = std::sqrt(12 * squares / (n - 2) * grown / (n * n * n - n));
  return {.drift = slope * (n - 1) / level,
          .drift_error = error * (n - 1) / level,
          .p_value = std::erfc(z / std::sqrt(2.0))};
}

double twin_squares(const Values& values, std::size_t from, std::size_t to) {
  const Values part(values.begin() + static_cast<std::ptrdiff_t>(from),
                    values.begin() + static_cast<std::ptrdiff_t>(to));
  double out = 0;
  for (const double value : part) out += (value - twin_mean(part)) * (value - twin_mean(part));
  return out;
}

// Pettitt's K is the maximum of Σ sign(x(i) − x(j)), over i before a place and j after it.
Break twin_break(const Values& values) {
  Break out;
  const auto n = static_cast<double>(values.size());
  double most = 0;
  double least = 0;
  for (std::size_t at = 1; at < values.size(); ++at) {
    double sum = 0;
    for (std::size_t i = 0; i < at; ++i) {
      for (std::size_t j = at; j < values.size(); ++j) {
        sum += values[i] > values[j] ? 1 : values[i] < values[j] ? -1 : 0;
      }
    }
    most = std::max(most, std::abs(sum));
    const double left = twin_squares(values, 0, at) + twin_squares(values, at, values.size());
    if (out.at == 0 || left < least) {
      least = left;
      out.at = at;
    }
  }
  out.p_value = std::min(1.0, 2 * std::exp(-6 * most * most / (n * n * n + n * n)));
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(out.at);
  const double before = twin_mean(Values(values.begin(), place));
  out.shift = (twin_mean(Values(place, values.end())) - before) / before;
  out.step_error = least;
  // The best line, by the normal equations.
  double x = 0;
  double y = 0;
  double xx = 0;
  double xy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    x += static_cast<double>(i);
    y += values[i];
    xx += static_cast<double>(i * i);
    xy += static_cast<double>(i) * values[i];
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  const double start = (y - slope * x) / n;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double off = values[i] - start - slope * static_cast<double>(i);
    out.line_error += off * off;
  }
  return out;
}

// Level, drifting, stepping or wandering; some in steps, so that many values are equal.
Values random_series(Rng& rng) {
  Values out(4 + rng.below(60));
  const double drift = rng.below(2) == 0 ? 0 : 2 * rng.uniform() - 1;
  const double step = rng.below(3) == 0 ? rng.uniform() : 0;
  const double memory = rng.below(2) == 0 ? 0.85 : 0;
  const bool coarse = rng.below(4) == 0;
  const std::size_t at = rng.below(out.size());
  double wander = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    wander = memory * wander + 0.1 * rng.normal();
    out[i] = 10 + drift * static_cast<double>(i) / static_cast<double>(out.size()) +
             (i >= at ? step : 0) + wander;
    if (coarse) out[i] = std::round(out[i] * 4) / 4;
  }
  return out;
}

TEST(Trend, is_what_the_papers_formulas_say) {
  int corrected = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Values values = random_series(rng);
    const Trend got = trend_of(values);
    const Trend wanted = twin_trend(values);
    ASSERT_NEAR(got.drift, wanted.drift, 1e-9);
    ASSERT_NEAR(got.drift_error, wanted.drift_error, 1e-9);
    ASSERT_NEAR(got.p_value, wanted.p_value, 1e-9);
    corrected += twin_correction(twin_ranks(values)) > 1 ? 1 : 0;
  }
  EXPECT_GT(corrected, 100) << "in many of them one value says much of the next";
}

// Three values alike at each end: their distance is the longest that the formula knows.
TEST(Trend, what_is_alike_at_both_ends_counts_as_correlation) {
  Values values(28, 1.0);
  for (const std::size_t at : {0U, 1U, 2U, 25U, 26U, 27U}) values[at] = 2;
  EXPECT_GT(std::abs(twin_autocorrelation(twin_ranks(values), 25)), 1.96 / std::sqrt(28));
  const Trend got = trend_of(values);
  const Trend wanted = twin_trend(values);
  EXPECT_NEAR(got.drift_error, wanted.drift_error, 1e-9);
  EXPECT_NEAR(got.p_value, wanted.p_value, 1e-9);
}

TEST(Break, is_what_the_papers_formulas_say) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const Values values = random_series(rng);
    const Break got = break_of(values);
    const Break wanted = twin_break(values);
    ASSERT_NEAR(got.p_value, wanted.p_value, 1e-9);
    ASSERT_NEAR(got.step_error, wanted.step_error, 1e-8);
    ASSERT_NEAR(got.line_error, wanted.line_error, 1e-7);
    // If two places fit equally well, up to the last digit, either is correct.
    if (got.at == wanted.at) {
      ASSERT_NEAR(got.shift, wanted.shift, 1e-9);
    }
  }
}

TEST(Break, of_places_that_fit_equally_well_the_first) {
  const Break found = break_of(Values{1, 2, 2, 1});
  EXPECT_EQ(found.at, 1U);
  EXPECT_EQ(break_of(Values{3, 3, 3, 3, 3}).at, 1U);
}

TEST(Trend, of_too_few_or_of_no_level_nothing_is_known) {
  for (const Values& values :
       {Values{}, Values{1}, Values{1, 2}, Values{0, 0, 0}, Values{-1, -2, -3}, Values{-1, 0, 1}}) {
    const Trend trend = trend_of(values);
    EXPECT_EQ(trend.drift, 0);
    EXPECT_TRUE(std::isinf(trend.drift_error));
    EXPECT_EQ(trend.p_value, 1);
  }
  EXPECT_FALSE(std::isinf(trend_of(Values{1, 2, 3}).drift_error)) << "three are enough";
  EXPECT_EQ(break_of(Values{1, 2, 3}).at, 0U);
  EXPECT_EQ(break_of(Values{1, 2, 3}).p_value, 1);
  EXPECT_NE(break_of(Values{1, 1, 3, 3}).at, 0U) << "four are enough";
  EXPECT_EQ(break_of(Values{0, 0, 5, 5}).shift, 0) << "there is no share of nothing";
}

TEST(Trend, equal_values_are_level_and_a_line_is_sure) {
  const Trend level = trend_of(Values{5, 5, 5, 5});
  EXPECT_EQ(level.drift, 0);
  EXPECT_EQ(level.drift_error, 0);
  EXPECT_EQ(level.p_value, 1);
  EXPECT_EQ(trend_of(Values{4, 5, 6}).drift_error, 0);
}

TEST(Break, of_values_too_large_for_squares_there_is_none) {
  const Break none = break_of(Values{1e200, 2e200, 1e200, 2e200});
  EXPECT_EQ(none.at, 0U);
  EXPECT_EQ(none.shift, 0);
}

TEST(Trend, what_falls_is_as_sure_as_what_rises) {
  Values up;
  Rng rng(2);
  for (int i = 0; i < 12; ++i) up.push_back(10 + i + rng.normal());
  Values down(up.rbegin(), up.rend());
  EXPECT_NEAR(trend_of(up).drift, -trend_of(down).drift, 1e-12);
  EXPECT_NEAR(trend_of(up).p_value, trend_of(down).p_value, 1e-12);
  EXPECT_GT(trend_of(up).drift, 0);
}

TEST(Variation, is_the_deviation_over_the_mean) {
  EXPECT_EQ(variation(Values{}), 0);
  EXPECT_EQ(variation(Values{5}), 0);
  EXPECT_NEAR(variation(Values{1, 3}), std::sqrt(2.0) / 2, 1e-12);
  EXPECT_NEAR(variation(Values{2, 4, 6}), 2.0 / 4, 1e-12);
  EXPECT_NEAR(variation(Values{0.02, 0.04, 0.06}), 2.0 / 4, 1e-12) << "of any unit";
  EXPECT_EQ(variation(Values{-1, -3}), 0) << "of no positive mean there is none";
  EXPECT_EQ(variation(Values{-1, 1}), 0);
}

}  // namespace
}  // namespace assay::metrics
