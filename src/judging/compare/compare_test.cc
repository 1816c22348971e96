#include "compare/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "compare/bootstrap.h"
#include "compare/testing_servers.h"
#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::compare {
namespace {

using testing::Contains;
using testing::HasSubstr;

// Sets the limits of every percentile of the series, as shares of it.
void leave_room(metrics::Distribution& series, double below, double above) {
  metrics::Limits limits{};
  for (std::size_t i = 0; i < metrics::kPercentiles.size(); ++i) {
    const double value = series.percentiles[i];
    limits.percentiles[i] = {value * (1 - below), value * (1 + above)};
  }
  series.limits = limits;
}

TEST(Compare, what_a_client_may_have_added_makes_no_run_worse_and_none_better) {
  const auto a = record(Server{}, 11);
  const auto b = record(Server{.tpot_ms = 11}, 12);
  const auto of = [](const Recorded& left, const Recorded& right) {
    return metric(compare_runs(left.as("A"), right.as("B"), {.seed = 1}), ComparedMetric::kTpotP50);
  };
  leave_room(a->point.arrival.tpot, 0, 0);
  leave_room(b->point.arrival.tpot, 0, 0);
  const MetricComparison sure = of(*a, *b);
  EXPECT_EQ(sure.verdict, MetricVerdict::worse);
  EXPECT_EQ(of(*b, *a).verdict, MetricVerdict::better);

  // The slower run's tokens may have arrived 15 % before its client saw them.
  leave_room(b->point.arrival.tpot, 0.15, 0);
  EXPECT_EQ(of(*a, *b).verdict, MetricVerdict::unresolved);
  EXPECT_NEAR(std::log1p(of(*a, *b).low), std::log1p(sure.low) + std::log(0.85), 1e-9);
  EXPECT_NEAR(of(*a, *b).high, sure.high, 1e-12);
  EXPECT_EQ(of(*b, *a).verdict, MetricVerdict::unresolved);

  // A possible later arrival supports the verdict.
  leave_room(b->point.arrival.tpot, 0, 0.15);
  EXPECT_EQ(of(*a, *b).verdict, MetricVerdict::worse);
  EXPECT_NEAR(std::log1p(of(*a, *b).high), std::log1p(sure.high) + std::log(1.15), 1e-9);
  EXPECT_EQ(of(*b, *a).verdict, MetricVerdict::better);

  // The same for the faster run.
  leave_room(b->point.arrival.tpot, 0, 0);
  leave_room(a->point.arrival.tpot, 0, 0.15);
  EXPECT_EQ(of(*a, *b).verdict, MetricVerdict::unresolved);
  leave_room(a->point.arrival.tpot, 0.15, 0);
  EXPECT_EQ(of(*a, *b).verdict, MetricVerdict::worse);

  // Without known limits there is no verdict.
  leave_room(b->point.arrival.tpot, 1, 0);
  EXPECT_EQ(of(*a, *b).verdict, MetricVerdict::unresolved);
}

TEST(Compare, what_is_the_same_is_called_the_same_and_what_is_faster_better) {
  const auto a = record(Server{.wander = 0}, 1, 4000);
  const auto b = record(Server{.wander = 0}, 2, 4000);
  const Comparison same = compare_runs(a->as("A"), b->as("B"), {});
  EXPECT_FALSE(same.worse());
  EXPECT_EQ(metric(same, ComparedMetric::kTpotP50).verdict, MetricVerdict::same);
  const auto fast = record(Server{.tpot_ms = 9, .wander = 0}, 3, 4000);
  const Comparison better = compare_runs(a->as("A"), fast->as("B"), {});
  EXPECT_FALSE(better.worse());
  EXPECT_EQ(metric(better, ComparedMetric::kTpotP50).verdict, MetricVerdict::better);
  EXPECT_EQ(metric(better, ComparedMetric::kSystemTps).verdict, MetricVerdict::better);
  // In the other direction it is a regression, of the rate too.
  const Comparison worse = compare_runs(fast->as("A"), a->as("B"), {});
  EXPECT_EQ(metric(worse, ComparedMetric::kTpotP50).verdict, MetricVerdict::worse);
  EXPECT_EQ(metric(worse, ComparedMetric::kSystemTps).verdict, MetricVerdict::worse);
}

TEST(Compare, a_harm_within_the_margin_is_no_regression) {
  const auto a = record(Server{.wander = 0}, 1, 2000);
  const auto b = record(Server{.tpot_ms = 10.5, .wander = 0}, 2, 2000);
  EXPECT_TRUE(compare_runs(a->as("A"), b->as("B"), {}).worse());
  EXPECT_FALSE(compare_runs(a->as("A"), b->as("B"), {.regression_margin = 0.10}).worse());
}

TEST(Compare, few_queries_decide_nothing) {
  const auto a = record(Server{}, 1, 40);
  const auto b = record(Server{}, 2, 40);
  const Comparison c = compare_runs(a->as("A"), b->as("B"), {});
  EXPECT_TRUE(c.comparable());
  EXPECT_TRUE(c.unresolved());
}

TEST(Compare, other_work_is_refused_with_its_reason) {
  const auto a = record(Server{}, 1, 200);
  const auto refused = [&a](const Recorded& b, const std::string& why) {
    const Comparison c = compare_runs(a->as("A"), b.as("B"), {});
    EXPECT_FALSE(c.comparable()) << why;
    EXPECT_TRUE(c.metrics.empty());
    EXPECT_THAT(c.refusals, Contains(HasSubstr(why)));
  };
  refused(*record(Server{.tokens = 40}, 2, 200), "OSL: 50.0 tokens on average in A, 40.0 in B");
  refused(*record(Server{}, 2, 200, "other"), "model: A has \"m\", B has \"other\"");
  refused(*record(Server{.failing = 0.1}, 2, 200), "failed: 0.0 % of A's");
  refused(*record(Server{}, 2, 19), "19 successful queries are too few");
  const auto b = record(Server{}, 2, 200);
  ComparedRun guilty = b->as("B");
  guilty.client = audit::ClientLimited::yes;
  EXPECT_THAT(compare_runs(a->as("A"), guilty, {}).refusals, Contains(HasSubstr("bottleneck")));
  const Comparison allowed = compare_runs(a->as("A"), guilty, {.allow_client_limited = true});
  EXPECT_TRUE(allowed.comparable());
  EXPECT_THAT(allowed.notes, Contains(HasSubstr("was the bottleneck; compared on request")));
  guilty.client = audit::ClientLimited::suspected;
  const Comparison noted = compare_runs(a->as("A"), guilty, {});
  EXPECT_TRUE(noted.comparable());
  EXPECT_THAT(noted.notes, Contains(HasSubstr("may have been the bottleneck")));
  const auto counted = record(Server{}, 2, 200);
  counted->point.tokens.source = metrics::TokenSource::tokenizer;
  counted->point.tokens.replies_by = {0, 0, counted->point.counts.completed, 0};
  counted->point.tokens.tokenizer = Json().set("tokenizer", "models/m").set("sha256", "7");
  EXPECT_THAT(compare_runs(a->as("A"), counted->as("B"), {}).refusals,
              Contains(HasSubstr("A's by usage, B's by tokenizer models/m")));
  EXPECT_TRUE(compare_runs(counted->as("A"), counted->as("B"), {}).comparable());
  b->point.end.state = RunState::crashed;
  EXPECT_THAT(compare_runs(a->as("A"), b->as("B"), {}).refusals, Contains(HasSubstr("not whole")));
}

TEST(Compare, the_same_seed_says_the_same) {
  const auto a = record(Server{}, 1, 200);
  const auto b = record(Server{}, 2, 200);
  const auto text = [&] {
    return comparison_json(compare_runs(a->as("A"), b->as("B"), {}), a->as("A"), b->as("B"), {})
        .dump();
  };
  EXPECT_EQ(text(), text());
}

TEST(ComparedMetric, names_go_both_ways_for_every_series_and_percentile) {
  for (int series = 0; series <= static_cast<int>(ComparedSeries::qps); ++series) {
    for (const double percentile : metrics::kPercentiles) {
      ComparedMetric m{static_cast<ComparedSeries>(series), percentile};
      if (is_rate(m)) m.percentile = 0;
      EXPECT_EQ(compared_metric_from(to_string(m)), m) << to_string(m);
      EXPECT_THAT(compared_metric_names(),
                  HasSubstr(to_string(ComparedMetric{m.series, 0})
                                .substr(0, is_rate(m) ? 3 : to_string(m).find("_p"))));
    }
  }
  EXPECT_EQ(compared_metric_from("ttft_p95"), (ComparedMetric{ComparedSeries::ttft, 95}));
  EXPECT_EQ(compared_metric_from("latency_due_p99.9"),
            (ComparedMetric{ComparedSeries::latency_due, 99.9}));
  for (const char* const wrong :
       {"tpot", "tpot_p", "tpot_p51", "tpot_pp50", "qps_p50", "", "x_p50"}) {
    EXPECT_FALSE(compared_metric_from(wrong)) << wrong;
  }
}

// For n independent values the deviation of the mean's logarithm is known.
TEST(Bootstrap, agrees_with_theory_where_there_is_one) {
  Rng rng(7);
  std::vector<BlockedRate> blocks;
  for (int i = 0; i < 400; ++i) blocks.push_back({100 + 10 * rng.normal(), 1});
  const Estimate rate = bootstrap(rate_of(blocks), 2000, rng);
  EXPECT_NEAR(rate.log_deviation, 0.1 / std::sqrt(400), 0.0008);
  std::vector<BlockedValue> values;
  for (std::uint32_t i = 0; i < 1000; ++i) values.push_back({std::exp(0.1 * rng.normal()), i, 1});
  const Estimate median = bootstrap(quantile_of(values, 1000, 0.5), 1000, rng);
  EXPECT_NEAR(median.log_deviation, 0.1 * std::sqrt(1.5708 / 1000), 0.0012);
}

TEST(Bootstrap, student_s_tail_and_its_inverse) {
  EXPECT_NEAR(student_tail(2.228, 10), 0.025, 1e-4);
  EXPECT_NEAR(student_tail(1.812, 10), 0.05, 1e-4);
  EXPECT_NEAR(student_quantile(0.025, 10), 2.2281, 1e-3);
  EXPECT_NEAR(student_quantile(0.005, 30), 2.7500, 1e-3);
  EXPECT_NEAR(student_tail(-1.0, 5), 1 - student_tail(1.0, 5), 1e-12);
}

TEST(Bootstrap, blocks_are_whole_queries_in_time_and_at_least_ten) {
  std::vector<QueryRow> rows;
  for (int i = 0; i < 100; ++i)
    rows.push_back({.sent = metrics::at_ms(i * 10), .done = metrics::at_ms(i * 10 + 30)});
  const std::vector<TimeBlocks> blocks = time_blocks(rows);
  ASSERT_EQ(blocks.size(), 2U);
  for (const TimeBlocks& one : blocks) {
    EXPECT_EQ(one.begins.front(), 0U);
    EXPECT_EQ(one.begins.back(), 100U);
  }
  EXPECT_EQ(blocks[0].count(), 21U);  // the cube root of 100 is above the three in flight
  EXPECT_EQ(blocks[1].count(), 10U);
  rows.resize(12);
  ASSERT_EQ(time_blocks(rows).size(), 1U);
  EXPECT_EQ(time_blocks(rows)[0].count(), 10U);
}

TEST(QueryRows, a_gap_is_kept_to_a_twentieth_of_a_percent) {
  for (const double gap : {1.0, 950.0, 1.23e6, 4.56e9, 1e13}) {
    EXPECT_NEAR(QueryRows::value_of(QueryRows::bucket_of(gap)) / gap, 1, 0.0003);
  }
}

}  // namespace
}  // namespace assay::compare
