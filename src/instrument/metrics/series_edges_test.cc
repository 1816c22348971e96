// Series at their edges: the last value that is kept, buckets instead of values, sums that
// saturate, and the shape of histograms and curves.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "metrics/early_stopping.h"
#include "metrics/series.h"

namespace assay::metrics {
namespace {

TEST(SeriesEdges, a_distribution_of_nothing_says_nothing) {
  const Distribution d;
  EXPECT_EQ(d.count, 0U);
  EXPECT_TRUE(d.whole && d.exact && d.empty());
  EXPECT_FALSE(d.estimated || d.limits);
  EXPECT_EQ(d.total + d.min + d.max + d.sum_sq + d.mean + d.std_dev, 0);
  EXPECT_EQ(d.total_whole, 0);
  for (const double p : d.percentiles) EXPECT_EQ(p, 0);
  const Bucket bucket;
  EXPECT_EQ(bucket.low + bucket.high + static_cast<double>(bucket.count), 0);
  const QuantilePoint point;
  EXPECT_EQ(point.fraction + point.value, 0);
  const Between between{2, 5};
  EXPECT_EQ(between.width(), 3);
  EXPECT_EQ(Between{}.low + Between{}.high, 0);
  EXPECT_EQ(Series().count(), 0U);
  EXPECT_EQ(Series().total(), 0);
  EXPECT_EQ(RatioSeries().count(), 0U);
}

TEST(SeriesEdges, what_was_asked_for_is_in_the_distribution_also_of_nothing) {
  for (const bool estimates : {false, true}) {
    EXPECT_EQ(Series().finish(estimates).estimated, estimates);
    EXPECT_EQ(RatioSeries().finish(estimates).estimated, estimates);
    Series one;
    one.add(5);
    EXPECT_EQ(one.finish(estimates).estimated, estimates);
    Series many;
    RatioSeries ratios;
    for (int i = 0; i < 100; ++i) {
      many.add(i);
      ratios.add(i);
    }
    EXPECT_EQ(many.finish(estimates).early_stopping[7].has_value(), estimates);
    EXPECT_EQ(ratios.finish(estimates).early_stopping[7].has_value(), estimates);
  }
  EXPECT_TRUE(Series(0).finish(false).exact) << "nothing was put into buckets";
  EXPECT_FALSE(RatioSeries().finish(false).whole);
}

TEST(SeriesEdges, values_are_kept_up_to_the_limit_and_counted_from_the_next_on) {
  Series series(3);
  for (const std::int64_t value : {7, 1, 4}) series.add(value);
  EXPECT_EQ(series.count(), 3U);
  Distribution d = series.finish(true);
  EXPECT_TRUE(d.exact);
  EXPECT_EQ(d.median(), 4);
  Series more(3);
  for (const std::int64_t value : {7, 1, 4, 5}) more.add(value);
  d = more.finish(true);
  EXPECT_FALSE(d.exact);
  EXPECT_EQ(d.count, 4U);
  EXPECT_EQ(d.total_whole, 17);
  EXPECT_EQ(d.min, 1);
  EXPECT_EQ(d.max, 7);
  EXPECT_EQ(d.sum_sq, 49 + 1 + 16 + 25);
}

TEST(SeriesEdges, in_buckets_what_is_negative_counts_as_nothing_and_small_values_are_exact) {
  Series series(2);
  for (const std::int64_t value : {-9, -5, 0, 0, 3, 3, 3, 3, 4, 5, 6}) series.add(value);
  const Distribution d = series.finish(false);
  EXPECT_EQ(d.min, -9);
  EXPECT_EQ(d.percentile(25.0), 0);
  EXPECT_EQ(d.median(), 3);
  EXPECT_EQ(d.percentile(75.0), 3);
  EXPECT_EQ(d.percentile(80.0), 4);
  EXPECT_EQ(d.percentile(90.0), 5);
  std::uint64_t counted = 0;
  for (const Bucket& bucket : d.histogram) counted += bucket.count;
  EXPECT_EQ(counted, 11U);
}

// The middle of their bucket is beside all of them.
TEST(SeriesEdges, counted_in_buckets_no_figure_lies_outside_the_values) {
  for (std::int64_t value = 1'000'001; value < 1'017'000; value += 1000) {
    Series series(1);
    for (int i = 0; i < 3; ++i) series.add(value);
    const Distribution d = series.finish(false);
    ASSERT_FALSE(d.exact);
    for (const double p : d.percentiles) EXPECT_EQ(p, value);
    for (const QuantilePoint& point : d.quantiles) EXPECT_EQ(point.value, value);
  }
}

TEST(SeriesEdges, counted_in_buckets_curves_and_histograms_are_as_of_the_values) {
  Series kept;
  Series counted(1000);
  Rng rng(4);
  for (int i = 0; i < 40'000; ++i) {
    // A bucket's middle represents its values: they lie in the middle of their buckets.
    const auto value = static_cast<std::int64_t>(1e6 * std::exp(0.5 * rng.normal()));
    kept.add(value);
    counted.add(value);
  }
  const Distribution exact = kept.finish(false);
  const Distribution about = counted.finish(false);
  ASSERT_EQ(about.quantiles.size(), exact.quantiles.size());
  for (std::size_t i = 0; i < exact.quantiles.size(); ++i) {
    EXPECT_EQ(about.quantiles[i].fraction, exact.quantiles[i].fraction);
    EXPECT_NEAR(about.quantiles[i].value, exact.quantiles[i].value,
                0.008 * exact.quantiles[i].value);
  }
  ASSERT_EQ(about.histogram.size(), exact.histogram.size());
  for (std::size_t i = 0; i < exact.histogram.size(); ++i) {
    EXPECT_EQ(about.histogram[i].low, exact.histogram[i].low);
    EXPECT_EQ(about.histogram[i].high, exact.histogram[i].high);
    const auto count = static_cast<double>(exact.histogram[i].count);
    EXPECT_NEAR(static_cast<double>(about.histogram[i].count), count, 0.2 * count + 40) << i;
  }
}

TEST(SeriesEdges, sums_saturate_at_both_ends) {
  for (const std::int64_t sign : {1, -1}) {
    Series series;
    for (int i = 0; i < 4; ++i) series.add(sign * (std::int64_t{1} << 62));
    EXPECT_EQ(series.total(), sign > 0 ? std::numeric_limits<std::int64_t>::max()
                                       : std::numeric_limits<std::int64_t>::min());
    const Distribution d = series.finish(false);
    EXPECT_EQ(d.total, static_cast<double>(sign) * 0x1p64);
    EXPECT_EQ(d.mean, static_cast<double>(sign) * 0x1p62);
    EXPECT_EQ(d.std_dev, 0);
  }
}

TEST(SeriesEdges, the_least_and_the_largest_value_are_in_the_outermost_buckets) {
  Series series;
  for (const std::int64_t value : {1, 999, 1000}) series.add(value);
  const Distribution d = series.finish(false);
  EXPECT_EQ(d.histogram.front().count, 1U);
  EXPECT_EQ(d.histogram.back().count, 2U);
}

TEST(SeriesEdges, counted_in_buckets_the_largest_value_stays_below_an_edge_that_is_above_it) {
  // The bucket of 2^22 reaches to 4,227,072: its middle is above 4,200,000, the histogram's edge.
  Series series(0);
  series.add(1'328'157);
  series.add(std::int64_t{1} << 22);
  const std::vector<Bucket> buckets = series.finish(false).histogram;
  ASSERT_NEAR(buckets[14].high, 4'200'000, 10);
  EXPECT_EQ(buckets[14].count, 1U);
  EXPECT_EQ(buckets[15].count, 0U);
}

TEST(SeriesEdges, the_buckets_of_a_histogram_are_of_equal_ratio_over_a_decade_at_least) {
  const auto edges_of = [](std::int64_t least, std::int64_t most) {
    Series series;
    series.add(least);
    series.add(most);
    return series.finish(false).histogram;
  };
  const auto expect = [&](std::int64_t least, std::int64_t most, double low, double high) {
    const std::vector<Bucket> buckets = edges_of(least, most);
    ASSERT_EQ(buckets.size(), 30U);
    EXPECT_NEAR(buckets.front().low, low, 1e-9 * low);
    EXPECT_NEAR(buckets.back().high, high, 1e-9 * high);
    for (const Bucket& bucket : buckets) {
      EXPECT_NEAR(bucket.high / bucket.low, std::pow(high / low, 1.0 / 30), 1e-9);
    }
    EXPECT_EQ(buckets.front().count + buckets.back().count,
              static_cast<double>(most) < high / 2 ? 1U : 2U);
  };
  expect(100, 9000, 100, 9000);
  expect(100, 400, 100, 1000);
  expect(-50, 800, 1, 800);
  expect(0, 3, 1, 10);
}

// Every half percent up to 98.5 %, then twelve for each tenth of the rest, to a millionth.
TEST(SeriesEdges, a_curve_is_drawn_finer_towards_its_end) {
  constexpr std::uint64_t kN = 1'000'001;
  std::vector<std::uint64_t> ranks;
  const auto draw = [&](double fraction) {
    const auto rank = static_cast<std::uint64_t>(fraction * static_cast<double>(kN - 1));
    if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
  };
  for (int i = 0; i <= 197; ++i) draw(i / 200.0);
  for (int i = 0; i <= 48; ++i) draw(1 - std::pow(10.0, -2.0 - i / 12.0));
  draw(1);
  Series series(1);
  for (std::uint64_t i = 0; i < kN; ++i) series.add(std::int64_t{5});
  const std::vector<QuantilePoint> points = series.finish(false).quantiles;
  ASSERT_EQ(points.size(), ranks.size());
  EXPECT_GT(points.size(), 240U);
  EXPECT_LE(points.size(), 256U);
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].fraction, static_cast<double>(ranks[i] + 1) / static_cast<double>(kN)) << i;
  }
}

TEST(SeriesEdges, of_few_values_the_curve_has_each) {
  for (const std::int64_t n : {1, 2, 249, 250, 251}) {
    Series series;
    for (std::int64_t i = 0; i < n; ++i) series.add(i);
    const std::vector<QuantilePoint> points = series.finish(false).quantiles;
    EXPECT_EQ(points.size() == static_cast<std::size_t>(n), n <= 250) << n;
    for (const QuantilePoint& point : points) {
      EXPECT_EQ(point.fraction, (point.value + 1) / static_cast<double>(n));
    }
    EXPECT_EQ(points.front().value, 0);
    EXPECT_EQ(points.back().fraction, 1);
  }
}

TEST(SeriesEdges, what_was_sorted_digit_by_digit_is_sorted) {
  for (const std::size_t n : {2047U, 2048U, 2049U}) {
    Rng rng(n);
    std::vector<std::int64_t> values(n);
    Series series;
    for (std::int64_t& value : values) {
      value = static_cast<std::int64_t>(rng.next());  // of either sign, every digit in use
      if (rng.below(3) == 0) value >>= rng.below(60);
      series.add(value);
    }
    std::sort(values.begin(), values.end());
    const Distribution d = series.finish(false);
    for (const double p : kPercentiles) {
      EXPECT_EQ(d.percentile(p), static_cast<double>(values[percentile_index(p, n)]))
          << n << ' ' << p;
    }
  }
}

TEST(RatioSeries, of_one_value_and_of_two) {
  RatioSeries one;
  one.add(2.5);
  const Distribution d = one.finish(false);
  EXPECT_EQ(d.std_dev, 0);
  EXPECT_EQ(d.total, 2.5);
  EXPECT_EQ(d.sum_sq, 6.25);
  EXPECT_EQ(d.mean, 2.5);
  EXPECT_EQ(d.min, 2.5);
  EXPECT_EQ(d.max, 2.5);
  RatioSeries two;
  two.add(3);
  two.add(1);
  const Distribution e = two.finish(false);
  EXPECT_EQ(e.count, 2U);
  EXPECT_DOUBLE_EQ(e.std_dev, std::sqrt(2.0));
  EXPECT_EQ(e.min, 1);
  EXPECT_EQ(e.max, 3);
  EXPECT_EQ(e.mean, 2);
}

// The same values, kept and in buckets: their limits bound both alike.
TEST(SeriesEdges, limits_are_of_values_kept_or_counted_and_only_where_they_were_asked_for) {
  Series kept;
  Series counted(100);
  RatioSeries ratios;
  Rng rng(8);
  for (int i = 0; i < 2000; ++i) {
    const Duration value{1'000'000 + static_cast<std::int64_t>(rng.below(1'000'000))};
    const Duration low = i % 4 == 0 ? value - 200_us : value;
    kept.add(value, low, value);
    counted.add(value, low, value);
    ratios.add(static_cast<double>(value.ns), static_cast<double>(low.ns),
               static_cast<double>(value.ns));
  }
  EXPECT_EQ(ratios.count(), 2000U);
  const Distribution exact = kept.finish(false, true);
  const Distribution about = counted.finish(false, true);
  const Distribution ratio = ratios.finish(false, true);
  ASSERT_TRUE(exact.limits && about.limits && ratio.limits);
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const Between& range = exact.limits->percentiles[i];
    EXPECT_EQ(range.high, exact.percentiles[i]);
    EXPECT_LT(range.low, exact.percentiles[i]);
    EXPECT_EQ(ratio.limits->percentiles[i].low, range.low);
    EXPECT_EQ(ratio.limits->percentiles[i].high, range.high);
    EXPECT_NEAR(about.limits->percentiles[i].low, range.low, 0.01 * range.low);
    EXPECT_NEAR(about.limits->percentiles[i].high, range.high, 0.01 * range.high);
  }
  EXPECT_NEAR(exact.limits->mean.width(), 50'000, 1e-3);
  EXPECT_NEAR(about.limits->mean.width(), 50'000, 1e-3);
  // It counts for 0 too: a gap that is recorded as 0.
  Series zeros(100);
  for (int i = 0; i < 300; ++i) {
    if (i < 200) {
      zeros.add(0_ms, 0_ms, 1_ms);
    } else {
      zeros.add(5_ms, 5_ms, 5_ms);
    }
  }
  const Distribution none = zeros.finish(false, true);
  ASSERT_TRUE(none.limits);
  EXPECT_EQ(none.median(), 0);
  EXPECT_EQ(none.limits->percentiles[7].low, 0);
  EXPECT_NEAR(none.limits->percentiles[7].high, 1e6, 1e4);
  EXPECT_NEAR(none.limits->mean.high - none.limits->mean.low, 1e6 * 200 / 300, 1);
  Series again(100);
  for (int i = 0; i < 200; ++i) again.add(1_ms, 1_us, 1_ms);
  EXPECT_FALSE(again.finish(false).limits);
}

TEST(SeriesEdges, each_percentile_that_has_an_estimate_gets_its_own) {
  Series series;
  std::vector<std::int64_t> sorted;
  for (std::int64_t i = 0; i < 20'000; ++i) {
    series.add(i);
    sorted.push_back(i);
  }
  const Distribution found = series.finish(true);
  EXPECT_TRUE(found.estimated);
  for (std::size_t i = 0; i < kEstimates; ++i) {
    ASSERT_TRUE(found.early_stopping[i]) << kPercentiles[i];
    EXPECT_EQ(found.early_stopping[i],
              early_stopping_estimate(std::span<const std::int64_t>(sorted), kPercentiles[i]));
  }
}

// The squares saturate as late as 128 bits allow; then a deviation is that of the bound.
TEST(SeriesEdges, squares_beyond_128_bits_stay_at_the_bound) {
  Series series;
  for (int i = 0; i < 3; ++i) series.add(std::numeric_limits<std::int64_t>::max());
  const Distribution d = series.finish(false);
  EXPECT_DOUBLE_EQ(d.sum_sq, 0x1p127);
  EXPECT_EQ(d.count, 3U);
}

// Neighbours differ in their last bit only.
TEST(SeriesEdges, values_that_differ_in_one_bit_are_sorted_too) {
  for (const unsigned bit : {0U, 1U, 10U, 11U, 12U, 21U, 22U, 33U, 44U, 55U, 62U, 63U}) {
    Series series;
    const auto other = static_cast<std::int64_t>(std::uint64_t{1} << bit);
    for (int i = 0; i < 4096; ++i) series.add(i % 2 == 0 ? other : std::int64_t{0});
    const Distribution d = series.finish(false);
    EXPECT_EQ(d.percentile(1.0), static_cast<double>(std::min<std::int64_t>(other, 0))) << bit;
    EXPECT_EQ(d.percentile(99.0), static_cast<double>(std::max<std::int64_t>(other, 0))) << bit;
    EXPECT_EQ(d.median(), static_cast<double>(std::min<std::int64_t>(other, 0))) << bit;
  }
}

// Each power of 2 up to 2^30 is an edge, and an edge belongs to the bucket that it begins.
TEST(SeriesEdges, a_value_at_an_edge_is_in_the_bucket_that_begins_there) {
  for (const std::size_t kept : {std::size_t{100}, std::size_t{1}}) {
    Series series(kept);
    for (const std::int64_t value : {1, 1, 2, 3, 1 << 30, (1 << 30) - (1 << 24)}) {
      series.add(value);
    }
    const std::vector<Bucket> buckets = series.finish(false).histogram;
    ASSERT_EQ(buckets[1].low, 2);
    EXPECT_EQ(buckets[0].count, 2U) << kept;
    EXPECT_EQ(buckets[1].count, 2U) << kept;
    EXPECT_EQ(buckets[29].count, 2U) << kept;
  }
}

}  // namespace
}  // namespace assay::metrics
