#include "metrics/timeline_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.h"

namespace assay::metrics {
namespace {

constexpr Instant kFoldStart{50'000'000'000};

TEST(TimelineFold, in_flight_is_the_mean_over_each_bucket) {
  TimelineFold fold;
  fold.cell_of(kFoldStart);
  fold.sent(kFoldStart + 125_ms);  // two in flight from here
  fold.sent(kFoldStart + 125_ms);
  fold.ended(kFoldStart + 312_ms + 500_us, true, true);  // one from the middle of bucket 2
  fold.ended(kFoldStart + 500_ms, true, false);
  fold.ended(kFoldStart + 510_ms, false, false);  // never sent: never in flight
  const Timeline t = fold.finish();
  EXPECT_EQ(t.origin, kFoldStart);
  EXPECT_EQ(t.width, 125_ms);
  ASSERT_EQ(t.buckets.size(), 5u);
  EXPECT_NEAR(t.buckets[0].in_flight, 0, 1e-9);
  EXPECT_NEAR(t.buckets[1].in_flight, 2, 1e-9);
  EXPECT_NEAR(t.buckets[2].in_flight, 1.5, 1e-9);
  EXPECT_NEAR(t.buckets[3].in_flight, 1, 1e-9);
  EXPECT_NEAR(t.buckets[4].in_flight, 0, 1e-9);
  EXPECT_EQ(t.buckets[1].sent, 2u);
  EXPECT_EQ(t.buckets[2].completed, 1u);
  EXPECT_EQ(t.buckets[4].failed, 2u);
}

TEST(TimelineFold, first_tokens_fall_into_bins_of_a_third_of_an_octave) {
  TimelineFold fold;
  for (const Duration ttft : {Duration{0}, 99_us, 101_us, 50_ms, 3000_s})
    fold.first_token(kFoldStart, ttft);
  const Timeline t = fold.finish();
  ASSERT_EQ(t.ttft.size(), Timeline::kTtftBins);
  EXPECT_EQ(t.ttft[0], 3u);
  EXPECT_EQ(t.ttft[71], 1u);
  EXPECT_LE(Timeline::ttft_bin_low(71), 50e6);
  EXPECT_GT(Timeline::ttft_bin_low(72), 50e6);
  EXPECT_EQ(t.ttft[Timeline::kTtftBins - 1], 1u);
}

struct TimedQuery {
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool sent = true;
  bool ok = true;
  double tokens = 0;
  Duration ttft{};
};

// The expected content of one final bucket, from the list of all queries.
void expect_bucket(const Timeline& t, std::size_t i, const std::vector<TimedQuery>& queries) {
  const std::int64_t low = static_cast<std::int64_t>(i) * t.width.ns;
  const std::int64_t high = low + t.width.ns;
  const auto inside = [&](std::int64_t at) { return at >= low && at < high; };
  TimeBucket wanted{};
  double area = 0;
  std::vector<std::uint32_t> bins(Timeline::kTtftBins);
  for (const TimedQuery& q : queries) {
    if (inside(q.to)) {
      ++(q.ok ? wanted.completed : wanted.failed);
      ++wanted.fragments;
      std::size_t bin = 0;
      while (bin + 1 < Timeline::kTtftBins &&
             Timeline::ttft_bin_low(bin + 1) <= static_cast<double>(q.ttft.ns)) {
        ++bin;
      }
      ++bins[bin];
    }
    if (inside(q.from)) wanted.output_tokens += q.tokens;
    if (!q.sent) continue;
    if (inside(q.from)) ++wanted.sent;
    area += static_cast<double>(
        std::max<std::int64_t>(0, std::min(q.to, high) - std::max(q.from, low)));
  }
  const TimeBucket& got = t.buckets[i];
  ASSERT_EQ(got.sent, wanted.sent) << i;
  ASSERT_EQ(got.completed, wanted.completed) << i;
  ASSERT_EQ(got.failed, wanted.failed) << i;
  ASSERT_EQ(got.fragments, wanted.fragments) << i;
  ASSERT_NEAR(got.output_tokens, wanted.output_tokens, 1e-9) << i;
  ASSERT_NEAR(got.in_flight, area / static_cast<double>(t.width.ns), 1e-3) << i;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    ASSERT_EQ(t.ttft[i * Timeline::kTtftBins + bin], bins[bin]) << i << ' ' << bin;
  }
}

// The slow twin keeps every call and fills buckets of the final width.
TEST(TimelineFold, merging_neighbours_loses_nothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TimelineFold fold;
    fold.cell_of(kFoldStart);
    const std::uint64_t span = 1'000'000'000 * (1 + rng.below(4000));
    std::vector<TimedQuery> queries;
    std::int64_t last = 0;
    for (int i = 0; i < 300; ++i) {
      TimedQuery q{};
      q.from = static_cast<std::int64_t>(rng.below(span));
      q.to = q.from + static_cast<std::int64_t>(rng.below(span / 10));
      q.sent = rng.below(8) != 0;
      q.ok = rng.below(4) != 0;
      q.tokens = static_cast<double>(rng.below(100));
      q.ttft = Duration{static_cast<std::int64_t>(rng.exponential(1e8))};
      if (q.sent) fold.sent(kFoldStart + Duration{q.from});
      const std::uint32_t cell = fold.cell_of(kFoldStart + Duration{q.from});
      fold.ended(kFoldStart + Duration{q.to}, q.sent, q.ok);
      fold.tokens(cell, q.tokens);
      fold.fragment(kFoldStart + Duration{q.to});
      fold.first_token(kFoldStart + Duration{q.to}, q.ttft);
      queries.push_back(q);
      last = std::max(last, q.to);
    }
    const Timeline t = fold.finish();
    ASSERT_EQ(t.origin, kFoldStart);
    ASSERT_LE(t.buckets.size(), TimelineFold::kBucketsMax);
    ASSERT_EQ(t.buckets.size(), static_cast<std::size_t>(last / t.width.ns) + 1);
    ASSERT_EQ(t.ttft.size(), t.buckets.size() * Timeline::kTtftBins);
    // Not wider than necessary.
    if (t.width > TimelineFold::kNarrowest) {
      ASSERT_GE(static_cast<std::size_t>(last / (t.width.ns / 2)), TimelineFold::kBucketsMax);
    }
    for (std::size_t i = 0; i < t.buckets.size(); ++i) {
      ASSERT_NO_FATAL_FAILURE(expect_bucket(t, i, queries));
    }
  }
}

TEST(TimelineFold, what_was_before_the_origin_counts_at_the_origin) {
  TimelineFold fold;
  fold.sent(kFoldStart);
  fold.sent(kFoldStart - 10_s);
  fold.ended(kFoldStart + 125_ms, true, true);
  EXPECT_EQ(fold.cell_of(kFoldStart - 1_ns), 0U);
  EXPECT_EQ(fold.cell_of(kFoldStart + 125_ms - 1_ns), 0U);
  EXPECT_EQ(fold.cell_of(kFoldStart + 125_ms), 1U);
  const Timeline t = fold.finish();
  EXPECT_EQ(t.origin, kFoldStart);
  ASSERT_EQ(t.buckets.size(), 2U);
  EXPECT_EQ(t.buckets[0].sent, 2U);
  EXPECT_NEAR(t.buckets[0].in_flight, 2, 1e-9);
  EXPECT_NEAR(t.buckets[1].in_flight, 1, 1e-9);
}

TEST(TimelineFold, it_widens_at_the_first_instant_beyond_its_buckets_and_not_before) {
  const Duration reach = TimelineFold::kNarrowest * std::int64_t{TimelineFold::kBucketsMax};
  for (const bool by_tokens : {false, true}) {
    TimelineFold fold;
    fold.sent(kFoldStart);
    if (by_tokens) {
      fold.tokens(TimelineFold::kBucketsMax - 1, 1);
    } else {
      fold.sent(kFoldStart + reach - 1_ns);
    }
    const Timeline narrow = TimelineFold(fold).finish();
    EXPECT_EQ(narrow.width, TimelineFold::kNarrowest);
    EXPECT_EQ(narrow.buckets.size(), TimelineFold::kBucketsMax);
    if (by_tokens) {
      fold.tokens(TimelineFold::kBucketsMax, 2);
    } else {
      fold.sent(kFoldStart + reach);
    }
    const Timeline wide = fold.finish();
    EXPECT_EQ(wide.width, TimelineFold::kNarrowest * 2);
    EXPECT_EQ(wide.buckets.size(), TimelineFold::kBucketsMax / 2 + 1);
    EXPECT_EQ(by_tokens ? wide.buckets.back().output_tokens : wide.buckets.back().sent,
              by_tokens ? 2 : 1);
  }
}

TEST(TimelineFold, every_bin_of_first_tokens_is_kept_when_neighbours_become_one) {
  const Duration reach = TimelineFold::kNarrowest * std::int64_t{TimelineFold::kBucketsMax};
  TimelineFold fold;
  for (std::size_t bin = 0; bin < Timeline::kTtftBins; ++bin) {
    // Above the bin's low end, and below the next one's: one in each of two neighbours.
    const Duration ttft{static_cast<std::int64_t>(Timeline::ttft_bin_low(bin) * 1.01)};
    fold.first_token(kFoldStart, ttft);
    fold.first_token(kFoldStart + 125_ms, ttft);
  }
  fold.sent(kFoldStart + reach);
  const Timeline t = fold.finish();
  ASSERT_EQ(t.width, 250_ms);
  for (std::size_t bin = 0; bin < Timeline::kTtftBins; ++bin) EXPECT_EQ(t.ttft[bin], 2U) << bin;
}

TEST(TimelineFold, cells_that_are_merged_anyway_are_told_as_one) {
  TimelineFold fold;
  fold.sent(kFoldStart);
  const Duration reach = TimelineFold::kNarrowest * std::int64_t{TimelineFold::kBucketsMax};
  fold.sent(kFoldStart + reach * 3);  // two doublings
  EXPECT_EQ(fold.cell_of(kFoldStart + 125_ms * 3), 0U);
  EXPECT_EQ(fold.cell_of(kFoldStart + 125_ms * 4), 4U);
  EXPECT_EQ(fold.cell_of(kFoldStart + 125_ms * 7), 4U);
  EXPECT_EQ(fold.cell_of(Instant::max()), 0xffffffff);
}

TEST(TimelineFold, nothing_is_no_bucket) {
  const Timeline t = TimelineFold().finish();
  EXPECT_TRUE(t.buckets.empty());
  EXPECT_TRUE(t.ttft.empty());
  EXPECT_EQ(t.width, 125_ms);
  EXPECT_EQ(t.origin, Instant{});
  const TimeBucket empty;
  EXPECT_EQ(empty.fragments + empty.sent + empty.completed + empty.failed, 0U);
  EXPECT_EQ(empty.output_tokens + empty.in_flight, 0);
}

}  // namespace
}  // namespace assay::metrics
