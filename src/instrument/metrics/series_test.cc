#include "metrics/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace assay::metrics {
namespace {

TEST(Percentile, the_indices_of_the_reference) {
  const struct {
    std::uint64_t n;
    std::uint64_t index[12];
  } kVectors[] = {
      {10, {8, 8, 8, 8, 8, 7, 6, 4, 2, 0, 0, 0}},
      {100, {98, 98, 96, 94, 89, 79, 74, 49, 24, 9, 4, 0}},
      {1000, {998, 989, 969, 949, 899, 799, 749, 499, 249, 99, 49, 9}},
  };
  for (const auto& vector : kVectors) {
    for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
      EXPECT_EQ(percentile_index(kPercentiles[i], vector.n), vector.index[i])
          << kPercentiles[i] << " of " << vector.n;
    }
  }
}

TEST(Series, nothing_gives_nothing) {
  const Distribution d = Series().finish(true);
  EXPECT_TRUE(d.empty());
  EXPECT_TRUE(d.histogram.empty());
  EXPECT_TRUE(d.quantiles.empty());
  EXPECT_EQ(d.percentile(99.0), 0);
  EXPECT_FALSE(d.early_stopping[0].has_value());
}

TEST(Series, one_value_is_everything) {
  Series series;
  series.add(42);
  const Distribution d = series.finish(true);
  EXPECT_EQ(d.min, 42);
  EXPECT_EQ(d.max, 42);
  EXPECT_EQ(d.mean, 42);
  EXPECT_EQ(d.median(), 42);
  EXPECT_EQ(d.std_dev, 0);
  EXPECT_EQ(d.total_whole, 42);
  ASSERT_EQ(d.quantiles.size(), 1u);
  EXPECT_EQ(d.quantiles[0].fraction, 1);
}

// Values so large and so close that double arithmetic would lose the deviation altogether.
TEST(Series, the_deviation_of_large_numbers_is_exact) {
  Series series;
  for (int i = 0; i < 1000; ++i) series.add(1'000'000'000'000'000 + i % 2);
  EXPECT_NEAR(series.finish(false).std_dev, std::sqrt(0.25 * 1000 / 999), 1e-12);
}

TEST(Series, sums_beyond_128_bits_still_give_a_deviation) {
  Series series;
  for (int i = 0; i < 10; ++i) series.add(i % 2 == 0 ? 0 : std::int64_t{1} << 62);
  const Distribution d = series.finish(false);
  EXPECT_NEAR(d.std_dev / (0x1p61 * std::sqrt(10.0 / 9)), 1, 1e-9);
  EXPECT_EQ(d.total_whole, std::numeric_limits<std::int64_t>::max()) << "saturates";
}

// The slow twin: sort, index, count, as the definitions say.
TEST(Series, agrees_with_the_definitions) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const std::size_t n = 1 + rng.below(seed % 3 == 0 ? 3 : 6000);
    std::vector<std::int64_t> values(n);
    Series series;
    for (auto& value : values) {
      value = static_cast<std::int64_t>(rng.exponential(5e7)) - (seed % 5 == 0 ? 1000 : 0);
      if (seed % 7 == 0) value <<= rng.below(20);
      series.add(value);
    }
    const Distribution d = series.finish(true);
    std::sort(values.begin(), values.end());
    ASSERT_EQ(d.count, n);
    ASSERT_TRUE(d.exact && d.whole);
    ASSERT_EQ(d.total_whole, std::accumulate(values.begin(), values.end(), std::int64_t{0}));
    ASSERT_EQ(d.min, static_cast<double>(values.front()));
    ASSERT_EQ(d.max, static_cast<double>(values.back()));
    for (const double p : kPercentiles) {
      const auto index = static_cast<std::size_t>(p / 100 * static_cast<double>(n - 1));
      ASSERT_EQ(d.percentile(p), static_cast<double>(values[index])) << seed << ' ' << p;
    }
    double squares = 0;
    for (const auto value : values) {
      squares += (static_cast<double>(value) - d.mean) * (static_cast<double>(value) - d.mean);
    }
    if (n > 1) {
      ASSERT_NEAR(d.std_dev, std::sqrt(squares / static_cast<double>(n - 1)), 1e-7 * d.std_dev);
    }
    ASSERT_EQ(d.histogram.size(), 30u);
    ASSERT_NEAR(d.histogram.front().low, std::max(d.min, 1.0), 1e-6 * d.max);
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i < 30; ++i) {
      const Bucket& bucket = d.histogram[i];
      std::uint64_t inside = 0;
      for (const auto value : values) {
        const double v = std::clamp(static_cast<double>(value), d.histogram.front().low,
                                    d.histogram.back().high);
        if (v >= bucket.low && (v < bucket.high || (i == 29 && v <= bucket.high))) ++inside;
      }
      ASSERT_EQ(bucket.count, inside) << seed << ' ' << i;
      if (i > 0) {
        ASSERT_EQ(bucket.low, d.histogram[i - 1].high);
      }
      counted += bucket.count;
    }
    ASSERT_EQ(counted, n);
    ASSERT_LE(d.quantiles.size(), 256u);
    ASSERT_EQ(d.quantiles.back().fraction, 1);
    ASSERT_EQ(d.quantiles.back().value, d.max);
    for (const QuantilePoint& q : d.quantiles) {
      const auto at_or_below = static_cast<double>(
          std::upper_bound(values.begin(), values.end(), static_cast<std::int64_t>(q.value)) -
          values.begin());
      ASSERT_GE(at_or_below / static_cast<double>(n), q.fraction - 1e-12);
    }
  }
}

TEST(Series, above_its_limit_it_counts_and_says_so) {
  Series kept;
  Series counted(1000);
  Rng rng(9);
  for (int i = 0; i < 50'000; ++i) {
    const auto value = static_cast<std::int64_t>(rng.exponential(1e7));
    kept.add(value);
    counted.add(value);
  }
  const Distribution exact = kept.finish(true);
  const Distribution about = counted.finish(true);
  EXPECT_TRUE(exact.exact);
  EXPECT_FALSE(about.exact);
  EXPECT_EQ(about.total_whole, exact.total_whole);
  EXPECT_EQ(about.std_dev, exact.std_dev);
  EXPECT_EQ(about.min, exact.min);
  EXPECT_EQ(about.max, exact.max);
  for (const double p : kPercentiles) {
    EXPECT_NEAR(about.percentile(p), exact.percentile(p), 0.008 * exact.percentile(p)) << p;
  }
  EXPECT_FALSE(about.early_stopping[0].has_value()) << "no estimate from buckets";
  std::uint64_t n = 0;
  for (const Bucket& bucket : about.histogram) n += bucket.count;
  EXPECT_EQ(n, 50'000u);
  for (std::size_t i = 1; i < about.quantiles.size(); ++i) {
    EXPECT_LE(about.quantiles[i - 1].value, about.quantiles[i].value);
  }
}

TEST(RatioSeries, agrees_with_the_whole_numbers) {
  Series whole;
  RatioSeries ratio;
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<std::int64_t>(rng.below(1'000'000));
    whole.add(value);
    ratio.add(static_cast<double>(value));
  }
  const Distribution a = whole.finish(true);
  const Distribution b = ratio.finish(true);
  EXPECT_FALSE(b.whole);
  EXPECT_EQ(a.percentiles, b.percentiles);
  EXPECT_EQ(a.early_stopping, b.early_stopping);
  EXPECT_NEAR(a.std_dev, b.std_dev, 1e-9 * a.std_dev);
  EXPECT_EQ(a.mean, b.mean);
}

}  // namespace
}  // namespace assay::metrics
