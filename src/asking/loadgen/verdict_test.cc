#include "loadgen/verdict.h"

#include <gtest/gtest.h>

namespace assay::loadgen {
namespace {

EffectiveSettings judged(TestSettings asked) {
  const auto settings = effective(asked, {.total = 100, .performance = 100});
  EXPECT_TRUE(settings) << (settings ? "" : settings.error().message);
  return settings.value_or(EffectiveSettings{});
}

TestSettings short_test(Scenario scenario) {
  TestSettings s;
  s.scenario = scenario;
  s.min_duration_ms = 1000;
  s.server_target_qps = 1000;
  return s;
}

// `count` samples of 1, 2, 3 … ms in a test of two seconds.
Recorded rising(std::uint64_t count) {
  Recorded out{.sut_name = "SUT",
               .queries_issued = count,
               .last_due = 2'000'000'000,
               .last_issued = 2'000'000'000,
               .last_done = 2'000'000'000};
  for (std::uint64_t i = count; i > 0; --i) {
    out.sample_latencies.push_back(static_cast<std::int64_t>(i) * 1'000'000);
  }
  return out;
}

Verdict of_record(const EffectiveSettings& settings, const Recorded& recorded) {
  const auto found = verdict(settings, recorded);
  EXPECT_TRUE(found) << (found ? "" : found.error().message);
  return found.value_or(Verdict{});
}

TEST(LoadgenVerdict, single_stream_needs_64_queries_for_an_estimate) {
  TestSettings asked = short_test(Scenario::SingleStream);
  asked.min_query_count = 1;
  const EffectiveSettings settings = judged(asked);
  const Verdict few = of_record(settings, rising(63));
  EXPECT_FALSE(few.valid());
  EXPECT_EQ(few.latency.text,
            " * Only processed 63 queries.\n * Need to process at least 64 queries for early "
            "stopping.");
  const Verdict enough = of_record(settings, rising(64));
  EXPECT_TRUE(enough.valid());
  EXPECT_EQ(enough.latency.estimate, 64'000'000);
  EXPECT_FALSE(enough.latency.estimate_99);
  EXPECT_TRUE(enough.latency.text.ends_with("least 662 total queries)."));
  // 78 of 1000 values may lie at or above the estimate, and of the 99th percentile 2.
  const Verdict many = of_record(settings, rising(1000));
  EXPECT_EQ(many.latency.estimate, 923'000'000);
  EXPECT_EQ(many.latency.estimate_99, 999'000'000);
  EXPECT_NE(many.latency.text.find("Would discard 77 highest"), std::string::npos);
}

TEST(LoadgenVerdict, server_says_how_many_queries_are_missing) {
  TestSettings asked = short_test(Scenario::Server);
  asked.server_target_latency_ns = 999'000'000;  // one of 1000 is over: 661 + 1 are needed
  EXPECT_TRUE(of_record(judged(asked), rising(1000)).valid());
  asked.server_target_latency_ns = 995'000'000;  // five: 1302 + 5
  const Verdict more = of_record(judged(asked), rising(1000));
  EXPECT_TRUE(more.performance_met);
  EXPECT_FALSE(more.valid());
  EXPECT_NE(more.latency.text.find("at least 307 more queries"), std::string::npos);
  EXPECT_EQ(more.reasons(), "");
  asked.server_target_latency_ns = 5'000'000;
  EXPECT_EQ(of_record(judged(asked), rising(1000)).reasons(),
            "Reduce target QPS to improve latency. ");
}

TEST(LoadgenVerdict, each_reason_of_invalid_is_told) {
  TestSettings asked = short_test(Scenario::Offline);
  asked.offline_expected_qps = 1000;
  asked.min_duration_ms = 60'000;
  const Verdict v = of_record(judged(asked), rising(1000));
  EXPECT_FALSE(v.min_duration_met);
  EXPECT_FALSE(v.min_queries_met);  // 66,000 samples
  EXPECT_EQ(v.reasons(),
            "Increase expected QPS so the loadgen pre-generates a larger (coalesced) query. The "
            "test exited early, before enough queries were issued.");
}

TEST(LoadgenVerdict, ttft_is_not_looked_at_where_tpot_has_failed) {
  TestSettings asked = short_test(Scenario::Server);
  asked.use_token_latencies = true;
  asked.server_tpot_latency = 1'000;
  asked.server_ttft_latency = 2'000'000'000;
  Recorded recorded = rising(1000);
  recorded.first_tokens.assign(1000, 500'000);
  recorded.tokens.assign(1000, 11);
  Verdict v = of_record(judged(asked), recorded);
  EXPECT_FALSE(v.tpot.met);
  EXPECT_EQ(v.ttft.text, "");
  EXPECT_EQ(v.performance_advice, "TPOT constrain not met: Reduce target QPS to improve latency.");
  EXPECT_EQ(v.output_token.max, (1'000'000'000 - 500'000) / 10);
  EXPECT_EQ(v.tokens, 11'000U);
  // One token is none, and its time per token negative: the sum's mean is LoadGen's huge number.
  recorded.tokens.assign(1000, 1);
  v = of_record(judged(asked), recorded);
  EXPECT_EQ(v.tokens, 0U);
  EXPECT_LT(v.output_token.max, 0);
  EXPECT_GT(v.output_token.mean, 1'000'000'000'000);
  EXPECT_EQ(v.ttft.text, " * Run successful.");
}

TEST(LoadgenVerdict, the_summary_has_the_stock_librarys_lines) {
  const EffectiveSettings settings = judged(short_test(Scenario::Server));
  Recorded recorded = rising(200);
  recorded.errors = 2;
  const std::string text = summary_text(settings, recorded, of_record(settings, recorded));
  EXPECT_TRUE(text.starts_with(
      "================================================\nMLPerf Results Summary\n"
      "================================================\nSUT name : SUT\nScenario : Server\n"
      "Mode     : PerformanceOnly\nCompleted samples per second    : 99.50\n"
      "Result is : INVALID\n  Performance constraints satisfied : NO\n"
      "  Min duration satisfied : Yes\n  Min queries satisfied : Yes\n"
      "  Early stopping satisfied: NO\nRecommendations:\n"
      " * Reduce target QPS to improve latency.\nEarly Stopping Result:\n"))
      << text;
  EXPECT_NE(text.find("Mean latency (ns)               : 100500000\n"
                      "50.00 percentile latency (ns)   : 101000000\n"),
            std::string::npos);
  EXPECT_TRUE(
      text.ends_with("accuracy_sample_count : 100\n\nNo warnings encountered during test.\n"
                     "\n2 ERRORS encountered. See detailed log.\n"))
      << text;
}

TEST(LoadgenVerdict, a_record_that_is_not_whole_is_refused) {
  const EffectiveSettings server = judged(short_test(Scenario::Server));
  EXPECT_FALSE(verdict(server, Recorded{}));
  Recorded recorded = rising(10);
  recorded.queries_issued = 11;
  EXPECT_FALSE(verdict(server, recorded));
  TestSettings asked = short_test(Scenario::Server);
  asked.use_token_latencies = true;
  EXPECT_FALSE(verdict(judged(asked), rising(10)));
  EXPECT_FALSE(verdict(judged(short_test(Scenario::MultiStream)), rising(10)));
  EXPECT_FALSE(Recorded::from_json(Json::parse(R"({"tokens": [1.5]})").value()));
}

}  // namespace
}  // namespace assay::loadgen
