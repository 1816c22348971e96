#include "metrics/timeline_fold.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.h"

namespace assay::metrics {
namespace {

constexpr Instant kStart{50'000'000'000};

TEST(TimelineFold, in_flight_is_the_mean_over_each_bucket) {
  TimelineFold fold;
  fold.cell_of(kStart);
  fold.sent(kStart + 125_ms);  // two in flight from here
  fold.sent(kStart + 125_ms);
  fold.ended(kStart + 312_ms + 500_us, true, true);  // one from the middle of bucket 2
  fold.ended(kStart + 500_ms, true, false);
  fold.ended(kStart + 510_ms, false, false);  // never sent: never in flight
  const Timeline t = fold.finish();
  EXPECT_EQ(t.origin, kStart);
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
    fold.first_token(kStart, ttft);
  const Timeline t = fold.finish();
  ASSERT_EQ(t.ttft.size(), Timeline::kTtftBins);
  EXPECT_EQ(t.ttft[0], 3u);
  EXPECT_EQ(t.ttft[71], 1u);
  EXPECT_LE(Timeline::ttft_bin_low(71), 50e6);
  EXPECT_GT(Timeline::ttft_bin_low(72), 50e6);
  EXPECT_EQ(t.ttft[Timeline::kTtftBins - 1], 1u);
}

// The slow twin keeps every call and fills buckets of the final width.
TEST(TimelineFold, merging_neighbours_loses_nothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    TimelineFold fold;
    fold.cell_of(kStart);
    const std::uint64_t span = 1'000'000'000 * (1 + rng.below(4000));
    struct Query {
      std::int64_t from = 0;
      std::int64_t to = 0;
    };
    std::vector<Query> queries;
    std::vector<std::pair<std::int64_t, double>> tokens;
    for (int i = 0; i < 300; ++i) {
      Query q{};
      q.from = static_cast<std::int64_t>(rng.below(span));
      q.to = q.from + static_cast<std::int64_t>(rng.below(span / 10));
      fold.sent(kStart + Duration{q.from});
      const std::uint32_t cell = fold.cell_of(kStart + Duration{q.from});
      fold.ended(kStart + Duration{q.to}, true, true);
      fold.tokens(cell, 7);
      fold.fragment(kStart + Duration{q.to});
      fold.first_token(kStart + Duration{q.to}, 10_ms);
      queries.push_back(q);
    }
    const Timeline t = fold.finish();
    ASSERT_LE(t.buckets.size(), TimelineFold::kBucketsMax);
    for (std::size_t i = 0; i < t.buckets.size(); ++i) {
      const std::int64_t low = static_cast<std::int64_t>(i) * t.width.ns;
      const std::int64_t high = low + t.width.ns;
      std::uint32_t sent = 0;
      std::uint32_t ended = 0;
      double area = 0;
      for (const Query& q : queries) {
        if (q.from >= low && q.from < high) ++sent;
        if (q.to >= low && q.to < high) ++ended;
        area += static_cast<double>(
            std::max<std::int64_t>(0, std::min(q.to, high) - std::max(q.from, low)));
      }
      ASSERT_EQ(t.buckets[i].sent, sent) << i;
      ASSERT_EQ(t.buckets[i].completed, ended) << i;
      ASSERT_EQ(t.buckets[i].fragments, ended) << i;
      ASSERT_NEAR(t.buckets[i].in_flight, area / static_cast<double>(t.width.ns), 1e-3) << i;
      std::uint32_t first_tokens = 0;
      for (std::size_t bin = 0; bin < Timeline::kTtftBins; ++bin) {
        first_tokens += t.ttft[i * Timeline::kTtftBins + bin];
      }
      ASSERT_EQ(first_tokens, ended);
    }
    double total = 0;
    for (const TimeBucket& bucket : t.buckets) total += bucket.output_tokens;
    ASSERT_NEAR(total, 2100, 1e-9);
  }
}

}  // namespace
}  // namespace assay::metrics
