// The detector's result in the words and keys of other tools.
#include <gtest/gtest.h>

#include "metrics/series.h"
#include "metrics/steady_state.h"

namespace assay::metrics {
namespace {

SteadyState found_state() {
  SteadyState out;
  out.super_pass_size = 100;
  out.super_passes = 7;
  out.window_min = 600_s;
  out.status = WindowStatus::windowable;
  out.verdict = SteadyVerdict::steady;
  out.found = true;
  out.first = 1;
  out.last = 5;
  out.samples = 500;
  out.span = Duration{1'212'345'000'000};
  out.metrics = {{.name = "tpot_p50",
                  .level = Level::plateau,
                  .drift = 0.01,
                  .drift_error = 0.002,
                  .p_value = 0.5,
                  .variation = 0.03,
                  .low = 2e6,
                  .high = 3e6},
                 {.name = "ttft_p50", .level = Level::unknown}};
  out.completed = 499;
  out.failed = 9;
  out.output_tokens = 7;
  out.tps = 2.5;
  out.qps = 0.5;
  Series ttft;
  for (const std::int64_t value : {1'000'000, 2'000'000, 3'000'000}) ttft.add(value);
  out.ttft = ttft.finish(false);
  return out;
}

TEST(SteadyStateJson, a_window_has_its_place_and_its_figures) {
  EXPECT_EQ(steady_state_json(found_state()).dump(),
            R"({"status":"windowable","verdict":"STEADY STATE","window":{"super_pass_start":1,)"
            R"("super_pass_end":5,"super_pass_size":100,"n_samples":500,"duration_s":1212.345},)"
            R"("state":{"tpot_p50":"Plateau"},"official":true,"super_passes":7,)"
            R"("window_min_s":600.0,"metrics":[{"name":"tpot_p50","state":"Plateau","drift":0.01,)"
            R"("drift_error":0.002,"p_value":0.5,"variation":0.03,"low_ms":2.0,"high_ms":3.0},)"
            R"({"name":"ttft_p50","state":"Unknown","drift":0.0,"drift_error":0.0,"p_value":1.0,)"
            R"("variation":0.0,"low_ms":0.0,"high_ms":0.0}],"figures":{"n_samples_completed":499,)"
            R"("n_samples_failed":9,"output_tokens":7,"system_tps":2.5,"tps_per_user":null,)"
            R"("qps":0.5,"ttft_ms":{"p50":2.0,"p90":2.0,"p99":2.0,"mean":2.0},"tpot_ms":null,)"
            R"("latency_ms":null}})");
}

TEST(SteadyStateJson, without_a_window_there_are_no_figures) {
  SteadyState none = found_state();
  none.found = false;
  none.verdict = SteadyVerdict::drifting_up;
  none.metrics[0].level = Level::drifting_up;
  const Json json = steady_state_json(none);
  EXPECT_EQ(json.find("window"), nullptr);
  EXPECT_EQ(json.find("figures"), nullptr);
  EXPECT_EQ(json.find("anomaly"), nullptr);
  EXPECT_EQ(json["official"].as_bool(true), false);
  EXPECT_EQ(json["state"].dump(), R"({"tpot_p50":"Drifting Up"})");
}

TEST(SteadyStateJson, an_anomaly_is_official_and_says_where_the_level_moved) {
  SteadyState moved = found_state();
  moved.verdict = SteadyVerdict::anomaly;
  moved.shift = -0.25;
  EXPECT_EQ(steady_state_block(moved)["anomaly"].dump(),
            R"({"after_super_pass":5,"tpot_p50_shift":-0.25})");
  EXPECT_TRUE(moved.official());
  EXPECT_EQ(steady_state_text(moved),
            "yes, then TPOT shifted by -25 %: super-passes 2 to 6 of 7, 20:12");
  moved.status = WindowStatus::insufficient_duration;
  EXPECT_FALSE(moved.official());
}

TEST(SteadyStateText, says_yes_no_or_not_known_and_why) {
  SteadyState state = found_state();
  EXPECT_EQ(steady_state_text(state), "yes: super-passes 2 to 6 of 7, 20:12");
  state.status = WindowStatus::insufficient_duration;
  EXPECT_EQ(steady_state_text(state),
            "yes: super-passes 2 to 6 of 7, 20:12; shorter than the 10:00 that the rules want, so "
            "the whole run counts");
  state.status = WindowStatus::insufficient_passes;
  EXPECT_EQ(
      steady_state_text(state),
      "not known: level in super-passes 2 to 6 of 7 only, 4 are needed; the whole run counts");
  state.first = 3;
  EXPECT_EQ(
      steady_state_text(state),
      "not known: level in super-passes 4 to 6 of 7 only, 4 are needed; the whole run counts");
  state.first = 1;
  state.super_passes = 3;
  EXPECT_EQ(steady_state_text(state),
            "not known: 3 super-passes, 4 are needed; the whole run counts");
  state.super_passes = 1;
  EXPECT_EQ(steady_state_text(state),
            "not known: 1 super-pass, 4 are needed; the whole run counts");
  state.super_passes = 4;
  EXPECT_EQ(
      steady_state_text(state),
      "not known: level in super-passes 2 to 6 of 4 only, 4 are needed; the whole run counts");
}

TEST(SteadyStateText, a_drift_is_named_before_everything_else) {
  SteadyState state = found_state();
  state.found = false;
  EXPECT_EQ(steady_state_text(state), "no: no level stretch was found; the whole run counts");
  state.super_passes = 3;
  EXPECT_EQ(steady_state_text(state),
            "not known: 3 super-passes, 4 are needed; the whole run counts");
  state.super_passes = 4;
  EXPECT_EQ(steady_state_text(state), "no: no level stretch was found; the whole run counts");
  state.super_passes = 3;
  state.metrics[0].level = Level::drifting_down;
  state.metrics[0].drift = -0.125;
  EXPECT_EQ(steady_state_text(state), "no: tpot_p50 drifts by -12 %, from 2 to 3 ms");
  state.metrics[1] = state.metrics[0];
  state.metrics[1].name = "tpot_p90";
  for (const Level level : {Level::plateau, Level::unknown}) {
    state.metrics[0].level = level;
    EXPECT_EQ(steady_state_text(state), "no: tpot_p90 drifts by -12 %, from 2 to 3 ms");
  }
  state.super_passes = 0;
  EXPECT_EQ(steady_state_text(state), "not known: less than one pass over the dataset");
}

TEST(SteadyStateJson, every_word_is_spelled_as_the_rules_spell_it) {
  EXPECT_EQ(to_string(WindowStatus::insufficient_duration), "insufficient_duration");
  EXPECT_EQ(to_string(WindowStatus::insufficient_passes), "insufficient_passes");
  EXPECT_EQ(to_string(WindowStatus::partial_dataset), "partial_dataset");
  EXPECT_EQ(to_string(SteadyVerdict::drifting_down), "drifting_down");
  EXPECT_EQ(to_string(SteadyVerdict::not_found), "not found");
  EXPECT_EQ(to_string(Level::drifting_down), "Drifting Down");
}

}  // namespace
}  // namespace assay::metrics
