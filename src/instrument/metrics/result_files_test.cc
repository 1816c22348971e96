#include <gtest/gtest.h>

#include "base/testing_golden.h"
#include "metrics/result_json.h"
#include "metrics/testing_small_run.h"

namespace assay::metrics {
namespace {

TEST(ResultFiles, of_a_hand_made_run) {
  const Point point = small_point("concurrency", {RunState::complete, ""});
  expect_golden("metrics/result_summary.json", result_summary(point).dump(2) + "\n");
  expect_golden("metrics/final_snapshot.json", final_snapshot(point).dump(2) + "\n");
}

TEST(ResultFiles, of_a_run_that_was_interrupted_before_anything_came) {
  RunInfo info = named_run("poisson");
  const Point point = PointFold(info).finish({RunState::interrupted, "Ctrl-C"});
  expect_golden("metrics/empty_summary.json", result_summary(point).dump(2) + "\n");
}

// The reference's readers look up these keys, in this order (from its documentation of the file).
TEST(ResultFiles, the_reference_keys_come_first_and_in_order) {
  const Json summary = result_summary(small_point("poisson", {RunState::complete, ""}));
  const char* const wanted[] = {"version",
                                "git_sha",
                                "test_started_at",
                                "n_samples_issued",
                                "n_samples_completed",
                                "n_samples_failed",
                                "duration_ns",
                                "state",
                                "complete",
                                "ttft",
                                "tpot",
                                "latency",
                                "output_sequence_lengths",
                                "input_sequence_lengths",
                                "legacy_loadgen_window_duration_ns",
                                "qps",
                                "tps",
                                "finish_reason_counts",
                                "run_config"};
  const auto& members = summary.members();
  ASSERT_GT(members.size(), std::size(wanted));
  for (std::size_t i = 0; i < std::size(wanted); ++i) EXPECT_EQ(members[i].first, wanted[i]);
  const char* const block[] = {"total",    "min",     "max",         "median",
                               "avg",      "std_dev", "percentiles", "early_stopping_percentiles",
                               "histogram"};
  const auto& ttft = summary["ttft"].members();
  ASSERT_EQ(ttft.size(), std::size(block));
  for (std::size_t i = 0; i < std::size(block); ++i) EXPECT_EQ(ttft[i].first, block[i]);
  EXPECT_EQ(summary["ttft"]["percentiles"].members()[1].first, "99.0");
  EXPECT_EQ(summary["ttft"]["early_stopping_percentiles"].size(), 8u);
  EXPECT_EQ(summary["output_sequence_lengths"].find("early_stopping_percentiles"), nullptr);
}

TEST(ResultFiles, issued_is_completed_and_failed) {
  const Json summary = result_summary(small_point("poisson", {RunState::complete, ""}));
  EXPECT_EQ(summary["n_samples_issued"].as_int(), 20);
  EXPECT_EQ(summary["n_samples_completed"].as_int(), 18);
  EXPECT_EQ(summary["n_samples_failed"].as_int(), 2);
  EXPECT_TRUE(summary["complete"].as_bool());
}

TEST(ResultFiles, the_legacy_rates_stand_for_poisson_runs_unless_switched_off) {
  const RunEnd end{RunState::complete, ""};
  const Json poisson = result_summary(small_point("poisson", end));
  // From 2000 ms to the end of the query sent at 2760: 50 + 19 + 150 ms later.
  EXPECT_EQ(poisson["legacy_loadgen_window_duration_ns"].as_int(), 979'000'000);
  EXPECT_NEAR(poisson["qps"].as_double(), 17 / 0.979, 1e-9);
  EXPECT_NEAR(poisson["tps"].as_double(), 18 * 16 / 0.979, 1e-9);
  const Json other = result_summary(small_point("concurrency", end));
  EXPECT_TRUE(other["legacy_loadgen_window_duration_ns"].is_null());
  EXPECT_NEAR(other["qps"].as_double(), 18 / 0.979, 1e-9);
  RunInfo info = named_run("poisson");
  Json config = run_config("poisson");
  config.find("load_pattern")->set("use_legacy_loadgen_qps_metrics", false);
  info.facts.set("run_config", std::move(config));
  PointFold fold(info);
  tell_run(fold);
  EXPECT_NEAR(result_summary(fold.finish(end))["qps"].as_double(), 18 / 0.979, 1e-9);
}

TEST(ResultFiles, what_the_checker_derives_is_what_we_say) {
  const Json summary = result_summary(small_point("concurrency", {RunState::complete, ""}));
  const double seconds = summary["duration_ns"].as_double() * 1e-9;
  EXPECT_NEAR(summary["system_tps"].as_double(),
              summary["output_sequence_lengths"]["total"].as_double() / seconds, 1e-9);
  EXPECT_NEAR(summary["tps_per_user"].as_double(),
              1e9 / summary["tpot"]["percentiles"]["90.0"].as_double(), 1e-9);
}

TEST(ResultFiles, any_time_gives_a_rate_and_none_gives_none) {
  Point point;
  point.rates.qps = 3;
  for (const Duration time : {0_ns, 1_ns}) {
    point.rates.duration = time;
    const Json summary = result_summary(point);
    EXPECT_EQ(summary["qps"].as_double(), 3 * static_cast<double>(time.ns));
    EXPECT_EQ(summary["duration_ns"].as_int(), time.ns);
    EXPECT_EQ(summary["assay"]["rates"]["qps"].is_null(), time == 0_ns);
  }
}

TEST(ResultFiles, a_crashed_run_says_so) {
  PointFold fold(named_run("concurrency"));
  fold.on_phase({1, PhaseStep::started, at_ms(0)});
  tell(steady_query(1, 0, 0, 50, 10, 16), fold);
  tell_sent(steady_query(1, 1, 10, 50, 10, 16), fold);
  const Point point = fold.finish(RunEnd{});
  const Json summary = result_summary(point);
  EXPECT_EQ(summary["state"].as_string(), "crashed");
  EXPECT_FALSE(summary["complete"].as_bool());
  EXPECT_EQ(summary["n_samples_issued"].as_int(), 2);
  EXPECT_EQ(summary["n_samples_failed"].as_int(), 0) << "nobody knows what came of it";
  EXPECT_EQ(summary["assay"]["counts"]["unfinished"].as_int(), 1);
  EXPECT_EQ(final_snapshot(point)["n_pending_tasks"].as_int(), 1);
}

TEST(ResultFiles, a_run_of_agents_has_the_rate_of_its_turns) {
  Point point = small_point("agentic_inference", {RunState::complete, ""});
  // 18 replies of 16 tokens, each 50 + i ms and 150 ms more long; 4 and 11 failed.
  double seconds = 0;
  for (int i = 0; i < 20; ++i) seconds += i == 4 || i == 11 ? 0 : 0.2 + 0.001 * i;
  ASSERT_TRUE(conversation_rate(point));
  EXPECT_NEAR(*conversation_rate(point), 18 * 16 / seconds, 1e-9);
  const Json summary = result_summary(point);
  EXPECT_EQ(summary["output_tokens_per_turn_total"].as_int(), 18 * 16);
  EXPECT_NEAR(summary["e2e_turn_time_seconds_total"].as_double(), seconds, 1e-9);
  EXPECT_NEAR(summary["e2e_avg_interactivity"].as_double(), 18 * 16 / seconds, 1e-9);
  point.arrival.latency.total_whole = 1;
  EXPECT_TRUE(conversation_rate(point));
  point.arrival.latency.total_whole = 0;
  EXPECT_FALSE(conversation_rate(point));
  point.arrival.latency.total_whole = 1;
  point.rates.tps.reset();
  EXPECT_FALSE(conversation_rate(point));
  const Point other = small_point("concurrency", {RunState::complete, ""});
  EXPECT_FALSE(conversation_rate(other));
  EXPECT_EQ(result_summary(other).find("e2e_avg_interactivity"), nullptr);
}

TEST(ResultFiles, what_only_some_runs_have_stands_where_they_have_it) {
  Point point = small_point("concurrency", {RunState::complete, ""});
  const Json without = result_summary(point)["assay"];
  EXPECT_EQ(without.find("units"), nullptr);
  EXPECT_EQ(without.find("audio"), nullptr);
  EXPECT_EQ(without["tokens"].find("tokenizer"), nullptr);
  EXPECT_EQ(without["clock"].as_string(), "monotonic");
  EXPECT_TRUE(without["started"].is_string());
  point.units = {.name = "image", .completed = 3, .per_second = 1.5};
  point.audio.replies = 1;
  point.audio.underruns = 2;
  point.tokens.tokenizer = Json().set("name", "t");
  point.tokens.tokenizer_above_limit = 4;
  point.tokens.said_beside_tokenizer = 5;
  point.tokens.tokenizer_beside_said = 6;
  point.run.simulated = true;
  Json with = result_summary(point)["assay"];
  EXPECT_EQ(with["units"].dump(), R"({"name":"image","completed":3,"per_second":1.5})");
  EXPECT_EQ(with["audio"]["replies"].as_int(), 1);
  EXPECT_EQ(with["audio"]["underruns"].as_int(), 2);
  EXPECT_EQ(with["tokens"]["tokenizer"].dump(), R"({"name":"t"})");
  EXPECT_EQ(with["tokens"]["tokenizer_above_limit"].as_int(), 4);
  EXPECT_EQ(with["tokens"]["said_beside_tokenizer"].as_int(), 5);
  EXPECT_EQ(with["tokens"]["tokenizer_beside_said"].as_int(), 6);
  EXPECT_EQ(with["clock"].as_string(), "simulated");
  EXPECT_TRUE(with["started"].is_null());
  point.units.completed = 2.5;
  with = result_summary(point)["assay"];
  EXPECT_EQ(with["units"]["completed"].as_double(), 2.5);
  EXPECT_EQ(result_summary(point).find("steady_state"), nullptr);
  point.steady = SteadyState{};
  EXPECT_EQ(result_summary(point)["steady_state"], steady_state_json(*point.steady));
}

TEST(ResultFiles, a_series_that_is_not_exact_says_so_and_a_failure_without_a_reply_has_no_status) {
  Point point = small_point("concurrency", {RunState::complete, ""});
  EXPECT_EQ(metric_block(point.arrival.ttft).find("exact"), nullptr);
  point.arrival.ttft.exact = false;
  EXPECT_FALSE(metric_block(point.arrival.ttft)["exact"].as_bool(true));
  EXPECT_EQ(metric_block(Distribution{}).dump(), "{}");
  const Json failures = result_summary(point)["assay"]["failures"];
  ASSERT_EQ(failures.size(), 2U);
  for (const Json& one : failures.items()) EXPECT_EQ(one["count"].as_int(), 1);
  ASSERT_FALSE(point.failures[0].examples.empty());
  point.failures[0].examples[0].http_status = 0;
  point.failures[0].examples[0].at = Instant::none();
  const Json example = result_summary(point)["assay"]["failures"][0]["examples"][0];
  EXPECT_TRUE(example["http_status"].is_null());
  EXPECT_TRUE(example["at_ns"].is_null());
}

}  // namespace
}  // namespace assay::metrics
