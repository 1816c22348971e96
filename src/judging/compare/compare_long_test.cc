// How often a verdict on two runs is right, over hundreds of pairs of runs. Seeds are fixed, so a
// count is the same on every machine.
#include <gtest/gtest.h>

#include "compare/compare.h"
#include "compare/testing_servers.h"

namespace assay::compare {
namespace {

TEST(Compare, two_runs_of_one_server_raise_a_false_alarm_in_at_most_one_of_twenty) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Server server{.wander = 0.03};
    const auto a = record(server, 2 * seed + 1);
    const auto b = record(server, 2 * seed + 2);
    // Without a margin every true difference would count, and there is none.
    const CompareOptions options{.regression_margin = 0, .replicates = 200, .seed = seed};
    const Comparison c = compare_runs(a->as("A"), b->as("B"), options);
    ASSERT_TRUE(c.comparable()) << c.refusals[0];
    if (c.worse()) ++alarms;
  }
  RecordProperty("false_alarms_of_200", alarms);
  EXPECT_LE(alarms, 10);
}

TEST(Compare, a_tpot_three_percent_worse_is_found_nine_times_in_ten) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto a = record(Server{}, 2 * seed + 1001);
    const auto b = record(Server{.tpot_ms = 10.3}, 2 * seed + 1002);
    const Comparison c = compare_runs(a->as("A"), b->as("B"), {.replicates = 200, .seed = seed});
    ASSERT_TRUE(c.comparable());
    const bool seen = metric(c, ComparedMetric::kTpotP50).verdict == MetricVerdict::worse ||
                      metric(c, ComparedMetric::kTpotP90).verdict == MetricVerdict::worse;
    if (seen) ++found;
  }
  RecordProperty("found_of_200", found);
  EXPECT_GE(found, 180);
}

TEST(Compare, an_interval_holds_the_truth) {
  int held = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto a = record(Server{}, 2 * seed + 5001);
    const auto b = record(Server{.tpot_ms = 10.5}, 2 * seed + 5002);
    const Comparison c = compare_runs(a->as("A"), b->as("B"),
                                      {.metrics = {ComparedMetric::kTpotP50}, .replicates = 200});
    const MetricComparison& m = metric(c, ComparedMetric::kTpotP50);
    if (m.low <= 0.05 && 0.05 <= m.high) ++held;
  }
  EXPECT_GE(held, 90);
}

}  // namespace
}  // namespace assay::compare
