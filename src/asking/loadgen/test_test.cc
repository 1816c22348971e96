// The judgement on recorded samples.
#include "loadgen/test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "loadgen/measured_fold.h"

namespace assay::loadgen {
namespace {

Test test_of(Scenario scenario) {
  Test out{.name = "x", .edition = "none", .sut_name = "SUT"};
  out.requested.scenario = scenario;
  out.requested.min_duration_ms = 1000;
  out.requested.min_query_count = 10;
  out.library = {.total = 100, .performance = 100};
  out.generated = 1'000'000;
  return out;
}

// A sample each 10 ms, done after 1 ms for the first, 2 ms for the second …
std::vector<MeasuredSample> steady(std::uint32_t count) {
  std::vector<MeasuredSample> out;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::int64_t at = std::int64_t{i} * 10'000'000;
    const std::int64_t done = at + (std::int64_t{i} + 1) * 1'000'000;
    out.push_back({.index = i, .ok = true, .due = at, .issued = at, .done = done});
  }
  return out;
}

Judgement judged_test(const Test& test, const std::vector<MeasuredSample>& samples) {
  const auto out = judge(test, samples, {});
  EXPECT_TRUE(out) << (out ? "" : out.error().message);
  return out.value_or(Judgement{});
}

TEST(LoadgenTest, single_streams_metric_is_the_estimate) {
  const Judgement j = judged_test(test_of(Scenario::SingleStream), steady(1000));
  EXPECT_TRUE(j.valid()) << j.reasons();
  ASSERT_TRUE(j.metric);
  EXPECT_EQ(j.metric->name, "early_stopping_latency_ss");
  EXPECT_DOUBLE_EQ(j.metric->value, 923);  // as verdict_test has it
  EXPECT_EQ(j.metric->unit, "ms");
  EXPECT_EQ(j.lines().front().second.substr(0, 5), "VALID");
  EXPECT_NE(j.lines().front().second.find("no MLPerf result"), std::string::npos);
}

// A client that was held up issues late what was due before the end.
TEST(LoadgenTest, a_stream_lasts_until_its_last_query_was_issued_not_until_it_was_due) {
  std::vector<MeasuredSample> samples = steady(101);
  samples.back().due = 999'000'000;
  samples.back().issued = 999'999'999;
  EXPECT_FALSE(judged_test(test_of(Scenario::SingleStream), samples).verdict->min_duration_met);
  samples.back().issued = 1'000'000'000;
  EXPECT_TRUE(judged_test(test_of(Scenario::SingleStream), samples).verdict->min_duration_met);
}

TEST(LoadgenTest, the_order_of_ends_does_not_matter) {
  std::vector<MeasuredSample> samples = steady(1000);
  const std::string forward = judged_test(test_of(Scenario::Server), samples).summary();
  std::ranges::reverse(samples);
  EXPECT_EQ(judged_test(test_of(Scenario::Server), samples).summary(), forward);
}

TEST(LoadgenTest, a_failed_sample_makes_a_test_invalid_and_is_no_latency) {
  std::vector<MeasuredSample> samples = steady(1000);
  samples[999].ok = false;  // the slowest
  const Judgement j = judged_test(test_of(Scenario::SingleStream), samples);
  EXPECT_FALSE(j.valid());
  EXPECT_EQ(j.reasons(), "1 of 1,000 samples failed, and a test has every answer.");
  EXPECT_EQ(j.verdict->sample_latency.max, 999'000'000);
  EXPECT_EQ(j.failed, 1U);
  EXPECT_NE(j.summary().find("Result is : INVALID"), std::string::npos);
  EXPECT_NE(j.summary().find(" * 1 of 1,000 samples failed"), std::string::npos);
  EXPECT_NE(j.summary().find("1 ERROR encountered"), std::string::npos);
}

TEST(LoadgenTest, a_run_that_was_cut_short_is_no_valid_test) {
  const auto j = judge(test_of(Scenario::SingleStream), steady(1000),
                       {.complete = false, .why = "asked to stop"});
  ASSERT_TRUE(j);
  EXPECT_FALSE(j->valid());
  EXPECT_EQ(j->reasons(), "The run is not whole: asked to stop.");
}

TEST(LoadgenTest, multi_stream_takes_each_querys_slowest_sample) {
  loadgen::Test test = test_of(Scenario::MultiStream);
  test.requested.multi_stream_samples_per_query = 4;
  std::vector<MeasuredSample> samples = steady(4000);
  for (MeasuredSample& one : samples) {
    one.due = std::int64_t{one.index / 4} * 10'000'000;
    one.done = one.due + (std::int64_t{one.index % 4} + 1) * 1'000'000;
  }
  Judgement j = judged_test(test, samples);
  EXPECT_TRUE(j.valid()) << j.reasons();
  EXPECT_EQ(j.recorded.queries_issued, 1000U);
  EXPECT_EQ(j.metric->name, "early_stopping_latency_ms");
  EXPECT_DOUBLE_EQ(j.metric->value, 4);
  EXPECT_EQ(j.recorded.last_due, 9'990'000'000);
  EXPECT_EQ(j.recorded.last_done, 9'994'000'000);
  // A query without one of its samples has no latency.
  samples[1].ok = false;
  j = judged_test(test, samples);
  EXPECT_EQ(j.recorded.queries_issued, 999U);
  EXPECT_EQ(j.recorded.sample_latencies.size(), 3999U);
  for (MeasuredSample& one : samples) one.ok = one.index % 4 != 0;
  j = judged_test(test, samples);
  EXPECT_FALSE(j.verdict);
  EXPECT_FALSE(j.valid());
}

TEST(LoadgenTest, offline_counts_from_the_start_whatever_the_cap) {
  loadgen::Test test = test_of(Scenario::Offline);
  test.requested.min_query_count = 200;
  test.in_flight_max = 16;
  const Judgement j = judged_test(test, steady(200));
  EXPECT_TRUE(j.valid()) << j.reasons();
  // The last is done 2.19 s after the start.
  EXPECT_NEAR(j.metric->value, 200 / 2.19, 1e-9);
  EXPECT_EQ(j.metric->name, "result_samples_per_second");
  EXPECT_EQ(j.lines().back().second,
            "one query of 200 samples; the client had at most 16 in flight");
}

TEST(LoadgenTest, servers_rate_is_of_tokens_where_they_are_measured) {
  loadgen::Test test = test_of(Scenario::Server);
  test.requested.server_target_latency_ns = 2'000'000'000;
  Judgement j = judged_test(test, steady(1000));
  EXPECT_NEAR(j.metric->value, 999 / 10.99, 1e-9);
  test.requested.use_token_latencies = true;
  test.requested.server_ttft_latency = 2'000'000'000;
  std::vector<MeasuredSample> samples = steady(1000);
  for (MeasuredSample& one : samples) {
    one.first_token = one.due + 500'000;
    one.tokens = 11;
  }
  j = judged_test(test, samples);
  EXPECT_TRUE(j.valid()) << j.reasons();
  EXPECT_EQ(j.metric->name, "result_completed_tokens_per_second");
  EXPECT_NEAR(j.metric->value, 11'000 / 10.99, 1e-9);
  samples[3].first_token = -1;
  samples[4].tokens = -1;
  j = judged_test(test, samples);
  EXPECT_FALSE(j.valid());
  EXPECT_EQ(j.reasons(),
            "1 of 1,000 answers without a count of tokens. 1 of 1,000 answers without a first "
            "token: they did not come as a stream.");
}

TEST(LoadgenTest, early_ends_are_errors_in_loadgens_words) {
  loadgen::Test test = test_of(Scenario::SingleStream);
  test.generated = 50;
  const Judgement out_of_queries = judged_test(test, steady(50));
  ASSERT_EQ(out_of_queries.errors.size(), 1U);
  EXPECT_TRUE(out_of_queries.errors[0].starts_with("Ending early: Ran out of generated queries"));
  test.requested.max_query_count = 50;
  EXPECT_EQ(judged_test(test, steady(50)).errors,
            std::vector<std::string>{"Ending early: Max query count reached."});
  test.requested.max_query_count = 0;
  test.requested.max_duration_ms = 400;
  test.generated = 100;
  EXPECT_EQ(judged_test(test, steady(50)).errors,
            std::vector<std::string>{"Ending early: Max test duration reached."});
  EXPECT_TRUE(judged_test(test, steady(101)).errors.empty());
}

TEST(LoadgenTest, a_test_and_its_settings_come_back_from_json) {
  loadgen::Test test = test_of(Scenario::Server);
  test.in_flight_max = 7;
  test.user_conf = "*.*.min_duration = 5\n";
  test.requested.qsl_rng_seed = 16159082839903944936U;
  const auto again = loadgen::Test::from_json(test.to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_json(), test.to_json());
  EXPECT_FALSE(loadgen::Test::from_json(Json(3)));
}

// Each field is changed by itself, so that none can be forgotten.
TEST(LoadgenTest, every_setting_is_read_back) {
  const Json defaults = TestSettings{}.to_json();
  for (const auto& [name, value] : defaults.members()) {
    Json changed = defaults;
    if (name == "scenario") {
      changed.set(name, "Offline");
    } else if (name == "mode") {
      changed.set(name, "AccuracyOnly");
    } else if (value.is_bool()) {
      changed.set(name, !value.as_bool());
    } else {
      changed.set(name, value.is_integer() ? Json(value.as_uint() + 1) : Json(0.25));
    }
    const auto read = TestSettings::from_json(changed);
    ASSERT_TRUE(read) << name << ": " << read.error().message;
    EXPECT_EQ(read->to_json().dump(), changed.dump()) << name;
  }
  EXPECT_FALSE(TestSettings::from_json(Json::object()));
  Json wrong = defaults;
  EXPECT_FALSE(TestSettings::from_json(wrong.set("min_query_count", -1)));
  wrong = defaults;
  EXPECT_FALSE(TestSettings::from_json(wrong.set("test05", 1)));
}

RunInfo info_of(const Test& test) {
  RunInfo info;
  info.phases = {{PhaseKind::warmup, "warmup", false}, {PhaseKind::performance, "p", true}};
  info.facts = Json::object().set(kTestFact, test.to_json());
  return info;
}

TEST(LoadgenMeasuredFold, a_test_is_folded_from_its_performance_phase) {
  const RunInfo info = info_of(test_of(Scenario::Server));
  MeasuredFold fold(info);
  const Instant start = Instant{} + 5_s;
  fold.on_phase({0, PhaseStep::started, Instant{}});
  const assay::Query warm{.index = 0, .phase = 0};
  fold.on_sent(warm, Instant{}, Instant{});
  fold.on_done(Event{.query = warm, .done = Instant{} + 1_ms}, "");
  fold.on_phase({1, PhaseStep::started, start});
  for (std::uint32_t i = 0; i < 3; ++i) {
    fold.on_sent({.index = i, .phase = 1, .sample = 7 + i}, start, start);
  }
  Event event{.query = {.index = 1, .phase = 1, .sample = 8}, .streamed = true};
  event.due = start + 10_ms;
  event.sent = start + 11_ms;
  event.first_token = start + 20_ms;
  event.done = start + 30_ms;
  event.stream_asked = true;
  event.usage.completion_tokens = 5;
  event.output_bytes = 20;
  event.fragments = 5;
  fold.on_done(event, "");
  const auto samples = fold.finish();
  ASSERT_EQ(samples.size(), 3U);  // two never ended
  EXPECT_EQ(samples[0].index, 1U);
  EXPECT_EQ(samples[0].sample, 8U);
  EXPECT_TRUE(samples[0].ok);
  EXPECT_EQ(samples[0].due, 10'000'000);
  EXPECT_EQ(samples[0].issued, 11'000'000);
  EXPECT_EQ(samples[0].first_token, 20'000'000);
  EXPECT_EQ(samples[0].done, 30'000'000);
  EXPECT_FALSE(samples[1].ok);
  EXPECT_EQ(samples[2].index, 2U);
}

TEST(LoadgenMeasuredFold, a_killed_run_is_judged_as_far_as_it_came) {
  const RunInfo info = info_of(test_of(Scenario::Server));
  MeasuredFold fold(info);
  fold.on_sent({.index = 0, .phase = 1}, Instant{}, Instant{});
  const auto judged = judge(info, fold, {});
  ASSERT_TRUE(judged) << judged.error().message;
  EXPECT_FALSE(judged->valid());
  EXPECT_EQ(judged->reasons(), "No sample was completed.");
  EXPECT_FALSE(judge(RunInfo{}, fold, {}));
}

}  // namespace
}  // namespace assay::loadgen
