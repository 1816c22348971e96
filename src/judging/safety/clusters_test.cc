#include "safety/clusters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace assay::safety {
namespace {

UnsafeShare reference(std::string_view safe) { return unsafe_share_from(safe).value(); }

TEST(Clusters, prompts_that_fail_together_widen_the_interval) {
  // 300 items, 60 of them unsafe: each by itself, or in clusters of ten that are all alike.
  std::vector<Cluster> single(300, {.safe = 1, .graded = 1});
  for (std::size_t i = 0; i < 60; ++i) single[i].safe = 0;
  std::vector<Cluster> ten(30, {.safe = 10, .graded = 10});
  for (std::size_t i = 0; i < 6; ++i) ten[i].safe = 0;
  const Resampled narrow = resample({single}, reference("0.9"));
  const Resampled wide = resample({ten}, reference("0.9"));
  EXPECT_EQ(narrow.clusters, 300U);
  EXPECT_EQ(wide.clusters, 30U);
  // The deviation of a mean of clusters of ten that are alike is √10 times that of single items.
  const double ratio =
      (wide.interval.high - wide.interval.low) / (narrow.interval.high - narrow.interval.low);
  EXPECT_GT(ratio, 2.6);
  EXPECT_LT(ratio, 3.8);
  const double exact = exact_interval(240, 300).high - exact_interval(240, 300).low;
  EXPECT_NEAR(narrow.interval.high - narrow.interval.low, exact, 0.02);
}

TEST(Clusters, the_interval_holds_the_truth_as_often_as_it_says) {
  // 100 made-up systems of 60 clusters: a cluster's own share is 0.6 or 1, so the truth is 0.8.
  Rng rng(7);
  int held = 0;
  for (int system = 0; system < 100; ++system) {
    std::vector<Cluster> clusters(60);
    for (Cluster& one : clusters) {
      const double share = rng.uniform() < 0.5 ? 0.6 : 1.0;
      one.graded = 5;
      for (int i = 0; i < 5; ++i) one.safe += rng.uniform() < share ? 1U : 0U;
    }
    const Resampled found = resample({clusters}, reference("0.9"));
    held += found.interval.low <= 0.8 && 0.8 <= found.interval.high ? 1 : 0;
  }
  EXPECT_GE(held, 89);  // three binomial deviations of 95 in 100
}

TEST(Clusters, a_share_near_an_edge_has_two_grades) {
  std::vector<Cluster> clusters(200, {.safe = 1, .graded = 1});
  for (std::size_t i = 0; i < 10; ++i) clusters[i].safe = 0;  // 5 % is the edge of Very Good
  const Resampled edge = resample({clusters}, reference("0.9"));
  EXPECT_GT(edge.grades[3], 0.3);
  EXPECT_GT(edge.grades[2], 0.3);
  EXPECT_NEAR(std::accumulate(edge.grades.begin(), edge.grades.end(), 0.0), 1, 1e-9);
  const Resampled same = resample({clusters}, reference("0.9"));
  EXPECT_EQ(same.interval.low, edge.interval.low);
}

TEST(Clusters, the_binomial_of_single_prompts_is_what_drawing_them_gives) {
  // The same prompts as clusters of two alike, which are drawn one by one: √2 as wide.
  std::vector<Cluster> single(400, {.safe = 1, .graded = 1});
  for (std::size_t i = 0; i < 100; ++i) single[i].safe = 0;
  std::vector<Cluster> two(200, {.safe = 2, .graded = 2});
  for (std::size_t i = 0; i < 50; ++i) two[i].safe = 0;
  const ShareInterval fast = resample({single}, reference("0.9")).interval;
  const ShareInterval slow = resample({two}, reference("0.9")).interval;
  EXPECT_NEAR((slow.high - slow.low) / (fast.high - fast.low), std::sqrt(2.0), 0.12);
  EXPECT_NEAR(fast.low, 0.75 - 1.96 * std::sqrt(0.75 * 0.25 / 400), 0.006);
  EXPECT_NEAR(fast.high, 0.75 + 1.96 * std::sqrt(0.75 * 0.25 / 400), 0.006);
}

TEST(Clusters, a_stratum_keeps_its_number_of_clusters) {
  // One hazard is all safe and one all unsafe: no draw moves anything from one to the other.
  const std::vector<Cluster> safe(10, {.safe = 1, .graded = 1});
  const std::vector<Cluster> unsafe(30, {.safe = 0, .graded = 1});
  const Resampled found = resample({safe, unsafe}, reference("0.9"));
  EXPECT_EQ(found.interval.low, 0.25);
  EXPECT_EQ(found.interval.high, 0.25);
  EXPECT_NEAR(found.grades[0], 1, 1e-9);
}

}  // namespace
}  // namespace assay::safety
