#include "metrics/gap_limits.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "base/rng.h"

namespace assay::metrics {
namespace {

constexpr Instant kStart{1'000'000'000};

struct Fragment {
  Instant truth{};
  Instant arrival{};
  Instant read{};
  Duration uncertainty{};
};

// The gaps as recorded, with the limits that the fragments leave.
Distribution told(const std::vector<Fragment>& fragments) {
  Series gaps;
  GapLimits limits;
  for (std::size_t i = 0; i < fragments.size(); ++i) {
    limits.fragment(fragments[i].arrival, fragments[i].read, fragments[i].uncertainty);
    if (i > 0) gaps.add(fragments[i].arrival - fragments[i - 1].arrival);
  }
  limits.limit(gaps);
  return gaps.finish(false, true);
}

Distribution gap_truth(const std::vector<Fragment>& fragments) {
  Series gaps;
  for (std::size_t i = 1; i < fragments.size(); ++i) {
    gaps.add(fragments[i].truth - fragments[i - 1].truth);
  }
  return gaps.finish(false);
}

void expect_within(const Between& range, double truth, std::string_view what) {
  EXPECT_LE(range.low, truth) << what;
  EXPECT_GE(range.high, truth) << what;
}

TEST(GapLimits, exact_fragments_leave_no_doubt) {
  std::vector<Fragment> fragments;
  for (int i = 0; i < 50; ++i) {
    const Instant at = kStart + 2_ms * i;
    fragments.push_back({at, at, at + 30_us, {}});
  }
  const Distribution gaps = told(fragments);
  ASSERT_TRUE(gaps.limits);
  for (const Between& range : gaps.limits->percentiles) {
    EXPECT_EQ(range.low, 2e6);
    EXPECT_EQ(range.high, 2e6);
  }
  EXPECT_EQ(gaps.limits->mean.low, gaps.mean);
  EXPECT_EQ(gaps.limits->mean.high, gaps.mean);
}

TEST(GapLimits, tokens_that_a_stop_gathered_in_one_read_may_be_anywhere_in_it) {
  // 1 s, then four in one read at 1.008 s that may have come from 1.000 s on.
  std::vector<Fragment> fragments = {{kStart, kStart, kStart, {}}};
  for (int i = 0; i < 4; ++i) {
    const Instant at = kStart + 8_ms;
    fragments.push_back({kStart + 2_ms * (i + 1), at, at, i < 3 ? 8_ms : Duration{}});
  }
  const Distribution gaps = told(fragments);
  EXPECT_EQ(gaps.max, 8e6);              // as recorded: 8, 0, 0, 0
  EXPECT_EQ(gaps.limits->max.low, 2e6);  // 2 each is the smallest possible largest gap
  EXPECT_EQ(gaps.limits->max.high, 8e6);
  EXPECT_EQ(gaps.limits->mean.low, 2e6);  // four gaps in 8 ms, in any division
  EXPECT_EQ(gaps.limits->mean.high, 2e6);
  EXPECT_EQ(gaps.limits->min.high, 2e6);  // of four, one is at most a quarter
}

TEST(GapLimits, a_share_of_a_gap_is_rounded_up) {
  std::vector<Fragment> fragments = {{kStart, kStart, kStart, {}}};
  for (int i = 0; i < 4; ++i) {
    const Instant at = kStart + 10_ns;
    fragments.push_back({at, at, at, i < 3 ? 10_ns : Duration{}});
  }
  EXPECT_EQ(told(fragments).limits->min.high, 3) << "a quarter of 10 ns is 2.5";
}

TEST(GapLimits, a_burst_that_was_read_as_it_came_is_known) {
  // 80 ms without data, then four at once, which the client knows to within 60 us.
  std::vector<Fragment> fragments = {{kStart, kStart, kStart, {}}};
  for (int burst = 1; burst <= 20; ++burst) {
    for (int i = 0; i < 4; ++i) {
      const Instant at = kStart + 80_ms * burst;
      fragments.push_back({at, at, at, i < 3 ? 60_us : Duration{}});
    }
  }
  const Distribution gaps = told(fragments);
  const Between& p99 = gaps.limits->percentiles[1];
  EXPECT_GE(p99.low, 79.9e6);
  EXPECT_LE(p99.high, 80.1e6);
  EXPECT_LE(gaps.limits->percentiles[7].high, 0.06e6);  // P50
}

// Both instants tell a read: segments of one read have arrivals of their own, and a second read may
// have the arrival of the first.
TEST(GapLimits, a_read_is_another_where_either_of_its_instants_is) {
  const auto at = [](Duration arrival, Duration read, Duration uncertainty) {
    return Fragment{.truth = kStart + arrival,
                    .arrival = kStart + arrival,
                    .read = kStart + read,
                    .uncertainty = uncertainty};
  };
  const Distribution segments =
      told({at(0_ms, 0_ms, {}), at(2_ms, 5_ms, 1_ms), at(4_ms, 5_ms, 1_ms)});
  EXPECT_EQ(segments.limits->min.low, 1e6);
  EXPECT_EQ(segments.limits->max.high, 3e6) << "from the earliest of the one before";
  const Distribution reads = told({at(0_ms, 0_ms, {}), at(2_ms, 5_ms, 1_ms), at(2_ms, 6_ms, 1_ms)});
  EXPECT_EQ(reads.limits->max.high, 2e6);
  EXPECT_EQ(reads.limits->mean.high, 1.5e6) << "a gap of 2 ms and one of 1 ms at most";
}

// Random replies of a client that receives some bytes late; its observations are true, and so must
// be the limits that follow from them.
TEST(GapLimits, the_truth_lies_within_whatever_came_together) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed);
    std::vector<Fragment> fragments;
    Instant at = kStart;
    Instant emptied = kStart;
    while (fragments.size() < 120) {
      // Several fragments in one read; the limit below lies somewhere before the first.
      const std::uint64_t together = rng.below(3) == 0 ? 1 + rng.below(7) : 1;
      std::vector<Instant> truths;
      for (std::uint64_t i = 0; i < together; ++i) {
        at = at + Duration{static_cast<std::int64_t>(
                      rng.below(rng.below(5) == 0 ? 9'000'000 : 2'000'000))};
        truths.push_back(at);
      }
      const auto slack = static_cast<std::uint64_t>((truths.front() - emptied).ns + 1);
      const Instant low = truths.front() - Duration{static_cast<std::int64_t>(rng.below(slack))};
      const bool stamped = rng.below(5) != 0;
      const Instant read = at + Duration{static_cast<std::int64_t>(rng.below(40'000))};
      const Instant arrival = stamped ? at : read;
      for (std::size_t i = 0; i < truths.size(); ++i) {
        const bool exact = stamped && i + 1 == truths.size();
        fragments.push_back({truths[i], arrival, read, exact ? Duration{} : arrival - low});
      }
      emptied = at = read;
    }
    const Distribution gaps = told(fragments);
    const Distribution truth = gap_truth(fragments);
    for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
      expect_within(gaps.limits->percentiles[i], truth.percentiles[i], format("seed {}", seed));
      expect_within(gaps.limits->percentiles[i], gaps.percentiles[i], format("seed {}", seed));
    }
    expect_within(gaps.limits->min, truth.min, "min");
    expect_within(gaps.limits->max, truth.max, "max");
    // A sum of doubles may differ in its last digits.
    EXPECT_LE(gaps.limits->mean.low, truth.mean + 1e-3) << "seed " << seed;
    EXPECT_GE(gaps.limits->mean.high, truth.mean - 1e-3) << "seed " << seed;
  }
}

TEST(GapLimits, what_is_less_or_more_stays_between_nothing_and_the_largest_value) {
  EXPECT_EQ(less(5_ns, 3_ns), 2_ns);
  EXPECT_EQ(less(5_ns, 5_ns), 0_ns);
  EXPECT_EQ(less(5_ns, 6_ns), 0_ns);
  EXPECT_EQ(less(Duration{-5}, 3_ns), Duration{-5}) << "a gap that goes back";
  EXPECT_EQ(more(5_ns, 3_ns), 8_ns);
  EXPECT_EQ(more(Duration{-5}, 3_ns), Duration{-2});
  EXPECT_EQ(more(0_ns, Duration::max()), Duration::max());
  for (const std::int64_t ns : {1, 2, 5}) {
    EXPECT_EQ(more(Duration{ns}, Duration::max()), Duration::max());
    EXPECT_EQ(more(Duration{ns}, Duration::max() - Duration{ns}), Duration::max());
  }
}

TEST(GapLimits, a_gap_that_goes_back_is_within_its_own_limits) {
  const Distribution gaps = told({{kStart, kStart, kStart, {}},
                                  {kStart - 6_ms, kStart - 6_ms, kStart - 6_ms, {}},
                                  {kStart, kStart, kStart, {}}});
  EXPECT_EQ(gaps.min, -6e6);
  expect_within(gaps.limits->min, gaps.min, "min");
}

TEST(GapLimits, instants_of_a_damaged_log_do_no_harm) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 62) - 1;
  const Duration most{std::int64_t{1} << 61};
  Series gaps;
  GapLimits limits;
  std::vector<Instant> arrivals = {{kFar}, {-kFar}, {-kFar}, {kFar}, {0}};
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    limits.fragment(arrivals[i], arrivals[i], most);
    if (i > 0) gaps.add(arrivals[i] - arrivals[i - 1]);
  }
  limits.limit(gaps);
  EXPECT_EQ(gaps.finish(false, true).count, 4u);
}

}  // namespace
}  // namespace assay::metrics
