#include "compare/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "compare/compare.h"
#include "compare/testing_turns.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::compare {
namespace {

using testing::Contains;
using testing::HasSubstr;

// The purpose of pairs: a cause that slows both sides does not widen the interval.
TEST(Paired, drift_widens_the_interval_of_two_runs_and_not_of_pairs) {
  const auto width = [](bool told) {
    const Turns turns = record_turns({.wander = 0.01, .drift = 0.5}, 7, told);
    const Comparison c = compare(turns, {.metrics = {ComparedMetric::kLatencyP50}});
    return c.metrics.at(0).high - c.metrics.at(0).low;
  };
  EXPECT_LT(width(true) * 3, width(false));
}

TEST(Paired, rates_are_over_the_blocks_of_their_own_side) {
  const Turns turns = record_turns({.wander = 0, .b_tpot = 12, .block = 64}, 3);
  const Comparison c = compare(turns, {.metrics = {ComparedMetric::kSystemTps}});
  const MetricComparison& tps = c.metrics.at(0);
  EXPECT_EQ(tps.verdict, MetricVerdict::worse);
  // 16 streams of 50 tokens in 540 ms, minus the time to fill and drain.
  EXPECT_NEAR(tps.a, 16 * 50 / 0.54, 250);
  EXPECT_NEAR(tps.effect, 540.0 / 638 - 1, 0.03);
}

TEST(Paired, few_pairs_are_refused_and_other_runs_are_no_pairs) {
  const Turns few = record_turns({.pairs = 5}, 1);
  EXPECT_THAT(compare(few, {}).refusals, Contains(HasSubstr("5 pairs of blocks are too few")));
  const Turns one = record_turns({.pairs = 8}, 1);
  EXPECT_TRUE(interleaved(one.a->point, one.b->point));
  EXPECT_FALSE(interleaved(one.a->point, one.a->point));
  EXPECT_EQ(compare_runs(one.a->as("A"), one.a->as("B"), {}).pairs, 0U);
  Turns other = record_turns({.pairs = 8}, 1);
  other.b->point.run.facts.set("interleaved", Json().set("id", "y").set("side", "b"));
  EXPECT_FALSE(interleaved(one.a->point, other.b->point));
}

TEST(Paired, a_side_whose_block_never_ran_has_no_pair_of_it) {
  const Turns turns = record_turns({.pairs = 24, .block = 16}, 1);
  QueryRows rows(paired_info(24, "b"));
  for (const metrics::HandMadeQuery& q :
       {metrics::steady_query(1, 0, 0, 5, 5, 3), metrics::steady_query(5, 0, 99, 5, 5, 3)}) {
    metrics::tell(q, rows);
  }
  rows.sort();
  const PairedBlocks blocks = paired_blocks(turns.a->point.run, turns.a->rows, rows);
  EXPECT_EQ(blocks.a.front().begins, (std::vector<std::size_t>{0, 32, 48}));
  EXPECT_EQ(blocks.b.front().begins, (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(paired_blocks(turns.a->point.run, turns.a->rows, turns.b->rows).a.size(), 2U);
}

}  // namespace
}  // namespace assay::compare
