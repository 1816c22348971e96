#include "metrics/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <span>
#include <vector>

namespace assay::metrics {
namespace {

TEST(EarlyStopping, the_least_counts_of_the_reference) {
  const std::uint64_t above[] = {1, 2, 3, 5, 10, 50, 100};
  const struct {
    double p;
    std::uint64_t below[7];
  } kVectors[] = {
      {0.90, {63, 79, 94, 122, 187, 631, 1146}},
      {0.95, {129, 163, 195, 254, 388, 1322, 2404}},
      {0.97, {218, 275, 329, 428, 657, 2243, 4082}},
      {0.99, {661, 836, 998, 1302, 2000, 6848, 12471}},
      {0.999, {6635, 8401, 10039, 13100, 20130, 69008, 125726}},
  };
  for (const auto& vector : kVectors) {
    for (std::size_t i = 0; i < 7; ++i) {
      EXPECT_EQ(least_below(vector.p, above[i]), vector.below[i]) << vector.p << ' ' << above[i];
    }
  }
  const struct {
    double p;
    std::uint64_t below;
  } kNoneAbove[] = {{0.5, 7},    {0.75, 17},  {0.8, 21},     {0.9, 44},      {0.95, 90},
                    {0.97, 152}, {0.99, 459}, {0.999, 4603}, {0.9999, 46050}};
  for (const auto& vector : kNoneAbove) EXPECT_EQ(least_below(vector.p, 0), vector.below);
}

TEST(EarlyStopping, the_fewest_values_of_the_reference) {
  const struct {
    double p;
    std::uint64_t n;
  } kFewest[] = {{0.5, 11},   {0.75, 24},  {0.8, 31},     {0.9, 64},      {0.95, 130},
                 {0.97, 219}, {0.99, 662}, {0.999, 6636}, {0.9999, 66381}};
  for (const auto& few : kFewest) {
    EXPECT_EQ(values_above(few.p, few.n - 1), 0u) << few.p;
    EXPECT_EQ(values_above(few.p, few.n), 1u) << few.p;
  }
}

TEST(EarlyStopping, the_discards_of_the_reference) {
  const double p[] = {0.5, 0.75, 0.8, 0.9, 0.95, 0.97, 0.99, 0.999};
  const struct {
    std::uint64_t n;
    std::uint64_t above[8];
  } kVectors[] = {
      {100, {37, 14, 10, 3, 0, 0, 0, 0}},
      {662, {300, 139, 108, 48, 20, 9, 1, 0}},
      {1000, {462, 218, 170, 78, 34, 17, 2, 0}},
      {5000, {2417, 1178, 934, 450, 214, 122, 33, 0}},
      {10000, {4883, 2399, 1906, 930, 449, 260, 77, 2}},
      {24576, {12105, 5985, 4769, 2348, 1149, 675, 209, 13}},
      {100000, {49631, 24681, 19705, 9779, 4839, 2874, 927, 77}},
      {270336, {134562, 67060, 53583, 26670, 13253, 7903, 2583, 232}},
  };
  for (const auto& vector : kVectors) {
    for (std::size_t i = 0; i < 8; ++i) {
      EXPECT_EQ(values_above(p[i], vector.n), vector.above[i]) << vector.n << ' ' << p[i];
    }
  }
}

TEST(EarlyStopping, the_estimates_of_the_reference) {
  std::vector<std::int64_t> values(10'000);
  std::iota(values.begin(), values.end(), 1);
  EXPECT_EQ(early_stopping_estimate(std::span<const std::int64_t>(values), 99.0), 9924);
  values.resize(1000);
  EXPECT_EQ(early_stopping_estimate(std::span<const std::int64_t>(values), 99.0), 999);
  values.resize(100);
  EXPECT_EQ(early_stopping_estimate(std::span<const std::int64_t>(values), 99.9), std::nullopt);
  EXPECT_EQ(early_stopping_estimate(std::span<const std::int64_t>(), 50.0), std::nullopt);
}

// The slow twin: I_p(h, t + 1) is the chance that a binomial(h + t, 1 − p) is at most t.
TEST(EarlyStopping, the_beta_function_is_the_binomial_sum) {
  for (const double p : {0.5, 0.9, 0.99}) {
    for (int t = 0; t < 12; ++t) {
      for (int h = 1; h < 300; h += 7) {
        const int n = h + t;
        double sum = 0;
        for (int k = 0; k <= t; ++k) {
          sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                          k * std::log(1 - p) + (n - k) * std::log(p));
        }
        EXPECT_NEAR(incomplete_beta(h, t + 1, p), sum, 1e-10) << p << ' ' << t << ' ' << h;
      }
    }
  }
}

// The rule as published, by counting up.
TEST(EarlyStopping, bisection_finds_what_counting_finds) {
  for (const double p : {0.5, 0.9, 0.97}) {
    std::uint64_t t = 0;
    for (std::uint64_t n = 1; n < 600; ++n) {
      while (least_below(p, t + 1) + t + 1 <= n) ++t;
      EXPECT_EQ(values_above(p, n), t) << p << ' ' << n;
    }
  }
}

TEST(EarlyStopping, the_beta_function_ends_where_its_range_does) {
  EXPECT_EQ(incomplete_beta(3, 2, 0), 0);
  EXPECT_EQ(incomplete_beta(3, 2, -0.5), 0);
  EXPECT_EQ(incomplete_beta(3, 2, 1), 1);
  EXPECT_EQ(incomplete_beta(3, 2, 1.5), 1);
  EXPECT_NEAR(incomplete_beta(1, 1, 0.3), 0.3, 1e-15) << "of the even law it is x itself";
  // I_x(a, b) = 1 − I_(1 − x)(b, a), on both sides of the point where the fraction is reversed.
  for (const double x : {0.01, 0.3, 0.6, 0.62, 0.9, 0.99}) {
    EXPECT_NEAR(incomplete_beta(5, 3, x), 1 - incomplete_beta(3, 5, 1 - x), 1e-14) << x;
  }
  // By hand: I_x(2, 1) = x², I_x(1, 2) = 1 − (1 − x)².
  EXPECT_NEAR(incomplete_beta(2, 1, 0.7), 0.49, 1e-15);
  EXPECT_NEAR(incomplete_beta(1, 2, 0.7), 0.91, 1e-15);
}

TEST(EarlyStopping, of_one_value_there_is_no_estimate_and_of_two_there_may_be) {
  // One value above, one below: the chance is 1 − (1 − p)², below 1 % for a very low percentile.
  EXPECT_EQ(values_above(0.001, 0), 0U);
  EXPECT_EQ(values_above(0.001, 1), 0U);
  EXPECT_EQ(values_above(0.001, 2), 1U);
  EXPECT_EQ(values_above(0.5, 2), 0U);
  EXPECT_EQ(least_below(0.001, 1), 1U);
}

TEST(EarlyStopping, whole_numbers_and_ratios_have_the_same_estimate) {
  std::vector<std::int64_t> whole(1000);
  std::iota(whole.begin(), whole.end(), 1);
  const std::vector<double> ratios(whole.begin(), whole.end());
  for (const double p : {50.0, 90.0, 99.0, 99.9}) {
    EXPECT_EQ(early_stopping_estimate(std::span<const std::int64_t>(whole), p),
              early_stopping_estimate(std::span<const double>(ratios), p));
  }
}

}  // namespace
}  // namespace assay::metrics
