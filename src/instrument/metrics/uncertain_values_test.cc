#include "metrics/uncertain_values.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/rng.h"
#include "metrics/series.h"

namespace assay::metrics {
namespace {

struct Value {
  std::int64_t told = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

std::vector<Value> some_values(Rng& rng, std::size_t count, std::uint64_t one_in) {
  std::vector<Value> values;
  for (std::size_t i = 0; i < count; ++i) {
    const auto told = static_cast<std::int64_t>(1'000'000 + rng.below(5'000'000));
    Value value{told, told, told};
    if (rng.below(one_in) == 0) value.low -= static_cast<std::int64_t>(rng.below(1'000'000));
    if (rng.below(one_in) == 0) value.high += static_cast<std::int64_t>(rng.below(1'000'000));
    values.push_back(value);
  }
  return values;
}

// The slow way: both series in full.
Limits slow(const std::vector<Value>& values) {
  Series low;
  Series high;
  for (const Value& value : values) {
    low.add(value.low);
    high.add(value.high);
  }
  const Distribution a = low.finish(false);
  const Distribution b = high.finish(false);
  Limits out{.mean = {a.mean, b.mean}, .min = {a.min, b.min}, .max = {a.max, b.max}};
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.percentiles[i] = {a.percentiles[i], b.percentiles[i]};
  }
  return out;
}

Limits fast(const std::vector<Value>& values, std::size_t most) {
  Series series(most);
  for (const Value& value : values) series.add({value.told}, {value.low}, {value.high});
  return *series.finish(false, true).limits;
}

TEST(UncertainValues, a_limit_on_the_wrong_side_of_its_value_is_the_value) {
  const Limits limits = fast({{5, 7, 3}}, 10);
  for (const Between& range : {limits.min, limits.max, limits.mean}) {
    EXPECT_EQ(range.low, 5);
    EXPECT_EQ(range.high, 5);
  }
}

TEST(UncertainValues, what_is_known_exactly_takes_no_room) {
  UncertainValues<std::int64_t> values(1);
  std::vector<std::int64_t> sorted;
  for (std::int64_t value = 1'000'001; value < 1'000'100; ++value) {
    values.add(value, value, value);
    sorted.push_back(value);
  }
  values.add(2'000'000, 1'500'000, 2'500'000);
  sorted.push_back(2'000'000);
  const Limits limits = values.limits(sorted);
  EXPECT_EQ(limits.min.low, 1'000'001);
  EXPECT_EQ(limits.min.high, 1'000'001);
  EXPECT_EQ(limits.max.low, 1'500'000);
  EXPECT_EQ(limits.max.high, 2'500'000);
  // A second one has no room: from now on all are counted in buckets.
  values.add(2'000'000, 1'500'000, 2'500'000);
  sorted.push_back(2'000'000);
  const auto exact = static_cast<double>(sorted[sorted.size() / 2]);
  const Between median = values.limits(sorted).percentiles[7];
  EXPECT_LT(median.low, exact);
  EXPECT_GT(median.high, exact);
}

TEST(UncertainValues, say_the_same_as_both_series_in_full) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Rng rng(seed);
    const std::vector<Value> values = some_values(rng, 1 + rng.below(400), 1 + rng.below(12));
    const Limits a = fast(values, 1'000'000);
    const Limits b = slow(values);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
      EXPECT_EQ(a.percentiles[i].low, b.percentiles[i].low) << "seed " << seed;
      EXPECT_EQ(a.percentiles[i].high, b.percentiles[i].high) << "seed " << seed;
    }
    EXPECT_EQ(a.min.low, b.min.low);
    EXPECT_EQ(a.max.high, b.max.high);
    EXPECT_NEAR(a.mean.low, b.mean.low, 1e-3);
    EXPECT_NEAR(a.mean.high, b.mean.high, 1e-3);
  }
}

TEST(UncertainValues, in_buckets_are_no_narrower_and_wider_by_a_bucket_at_most) {
  Rng rng(7);
  const std::vector<Value> values = some_values(rng, 3'000, 4);
  const Limits exact = slow(values);
  for (const std::size_t most : {std::size_t{1}, std::size_t{500}, std::size_t{2'999}}) {
    const Limits buckets = fast(values, most);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
      const Between& is = buckets.percentiles[i];
      const Between& was = exact.percentiles[i];
      EXPECT_LE(is.low, was.low);
      EXPECT_GE(is.high, was.high);
      EXPECT_GE(is.low, was.low * 0.99);
      EXPECT_LE(is.high, was.high * 1.01);
    }
    EXPECT_LE(buckets.max.low, exact.max.low);
    EXPECT_GE(buckets.max.high, exact.max.high);
    EXPECT_NEAR(buckets.mean.low, exact.mean.low, 1e-3);
  }
}

// So few values are inexact that only their side is counted in buckets.
TEST(UncertainValues, a_side_that_is_counted_in_buckets_is_held_against_all_that_were_kept) {
  for (const bool lower : {true, false}) {
    UncertainValues<std::int64_t> values(2);
    std::vector<std::int64_t> sorted;
    for (std::int64_t i = 1; i <= 100; ++i) {
      const std::int64_t value = i * 1'000'000;
      sorted.push_back(value);
      if (i > 50 && i <= 60) {
        values.add(value, lower ? value - 30'000'000 : value, lower ? value : value + 30'000'000);
      }
    }
    const Limits limits = values.limits(std::span<const std::int64_t>(sorted));
    // The rank of the median: 49. Ten of the values above it may lie below it, or the like.
    const Between median = limits.percentiles[7];
    EXPECT_NEAR(median.low, lower ? 40e6 : 50e6, 5e5) << lower;
    EXPECT_NEAR(median.high, 50e6, 5e5) << lower;
    EXPECT_NEAR(limits.mean.low, lower ? 47.5e6 : 50.5e6, 1) << lower;
    EXPECT_NEAR(limits.mean.high, lower ? 50.5e6 : 53.5e6, 1) << lower;
    EXPECT_NEAR(limits.min.low, 1e6, 1e4) << lower;
    EXPECT_NEAR(limits.min.high, 1e6, 1e4) << lower;
    EXPECT_NEAR(limits.max.low, 100e6, 1e6) << lower;
    EXPECT_EQ(limits.max.high, 100e6) << "no limit is above all values";
  }
}

// The bounds of a bucket above 256 are no odd numbers.
TEST(UncertainValues, are_exact_up_to_their_room_and_in_buckets_from_the_next_on) {
  for (const std::int64_t inexact : {2, 3}) {
    UncertainValues<std::int64_t> values(2);
    std::vector<std::int64_t> sorted;
    for (std::int64_t i = 0; i < 5; ++i) {
      sorted.push_back(1'000'001 + i * 100'002);
      if (i < inexact) values.add(sorted.back(), sorted.back() - 10, sorted.back() + 10);
    }
    const Limits limits = values.limits(std::span<const std::int64_t>(sorted));
    const double high = limits.percentiles[7].high;  // the median
    EXPECT_EQ(static_cast<std::int64_t>(high) % 2 == 1, inexact == 2) << inexact;
    EXPECT_NEAR(high, 1'200'005, 0.01 * high) << inexact;
    EXPECT_EQ(limits.min.low, inexact == 2 ? 999'991 : limits.min.low);
  }
}

TEST(UncertainValues, in_buckets_the_smallest_and_the_largest_value_have_an_edge_above_them) {
  Series zeros(1);
  for (const std::int64_t value : {0, 0, 0, 9}) {
    zeros.add(Duration{value}, Duration{value}, Duration{value + 1});
  }
  const Limits low = *zeros.finish(false, true).limits;
  EXPECT_EQ(low.percentiles[7].low, 0);
  EXPECT_EQ(low.percentiles[7].high, 2) << "of values of 1, which the next bucket bounds";
  EXPECT_EQ(low.max.high, 10);
  UncertainValues<double> values(1);
  // The last two buckets of the histogram.
  const std::vector<double> sorted{0, 0x1.fcp63, 0x1.ffp63};
  for (const double value : sorted) values.add(value, value * 0.5, value);
  const Limits high = values.limits(std::span<const double>(sorted));
  EXPECT_EQ(high.min.low, 0);
  EXPECT_EQ(high.min.high, 1);
  EXPECT_EQ(high.percentiles[7].high, 0x1.fep63) << "where the last bucket begins";
  EXPECT_EQ(high.max.high, 0x1.ffp63);
}

}  // namespace
}  // namespace assay::metrics
