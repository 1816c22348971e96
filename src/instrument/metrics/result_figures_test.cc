// Each figure of the result's files stands under its own key: a point of which no two figures are
// alike.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "metrics/result_json.h"
#include "metrics/series.h"

namespace assay::metrics {
namespace {

// A series whose every figure is of `number` alone.
Distribution numbered_series(std::int64_t number, bool limits = false) {
  Distribution out;
  out.count = static_cast<std::uint64_t>(number);
  out.total_whole = number * 1000 + 1;
  out.total = static_cast<double>(out.total_whole);
  out.min = static_cast<double>(number * 1000 + 2);
  out.max = static_cast<double>(number * 1000 + 3);
  out.mean = static_cast<double>(number * 1000 + 4);
  out.std_dev = static_cast<double>(number * 1000 + 5);
  out.sum_sq = static_cast<double>(number * 1000 + 6);
  out.estimated = true;
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    out.percentiles[i] = static_cast<double>(number * 1000 + 100) + static_cast<double>(i);
  }
  for (std::size_t i = 0; i < kEstimates; ++i) {
    out.early_stopping[i] = static_cast<double>(number * 1000 + 200) + static_cast<double>(i);
  }
  out.histogram = {{1, 2, 3}, {4, 5, static_cast<std::uint64_t>(number)}};
  if (limits) {
    const auto low = static_cast<double>(number * 1000 + 300);
    out.limits.emplace();
    out.limits->min = {low, low + 1};
    out.limits->max = {low + 2, low + 3};
    out.limits->mean = {low + 4, low + 5};
    for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
      const double each = low + 100 + 2 * static_cast<double>(i);
      out.limits->percentiles[i] = {each, each + 1};
    }
  }
  return out;
}

using Place = std::pair<const char*, Distribution Latencies::*>;
const std::vector<Place> kLatencies{{"ttft", &Latencies::ttft},
                                    {"ttft_due", &Latencies::ttft_due},
                                    {"ttft_visible", &Latencies::ttft_visible},
                                    {"tpot", &Latencies::tpot},
                                    {"itl", &Latencies::itl},
                                    {"latency", &Latencies::latency},
                                    {"latency_due", &Latencies::latency_due}};

Point point_of_differing_series() {
  Point point;
  std::int64_t number = 10;
  for (const auto& [name, series] : kLatencies) {
    point.arrival.*series = numbered_series(number++, true);
    point.read.*series = numbered_series(number++);
  }
  for (Distribution* const series :
       {&point.isl, &point.osl, &point.lateness, &point.read_delay, &point.connect,
        &point.fragment_tokens, &point.audio.first, &point.audio.first_due, &point.audio.first_read,
        &point.audio.speed, &point.audio.waits}) {
    *series = numbered_series(number++);
  }
  return point;
}

TEST(ResultFigures, each_series_of_the_summary_is_its_own) {
  Point point = point_of_differing_series();
  point.audio.replies = 1;
  const Json out = result_summary(point);
  EXPECT_EQ(out["ttft"], metric_block(point.arrival.ttft));
  EXPECT_EQ(out["tpot"], metric_block(point.arrival.tpot));
  EXPECT_EQ(out["latency"], metric_block(point.arrival.latency));
  EXPECT_EQ(out["output_sequence_lengths"], metric_block(point.osl));
  EXPECT_EQ(out["input_sequence_lengths"], metric_block(point.isl));
  const Json& assay = out["assay"];
  for (const auto& [name, series] : kLatencies) {
    EXPECT_EQ(assay["read"][name], metric_block(point.read.*series)) << name;
    EXPECT_EQ(assay["arrival"][name]["total"].as_int(), (point.arrival.*series).total_whole);
    EXPECT_EQ(assay["arrival"][name].size(), assay["read"][name].size() + 1) << "and its limits";
    EXPECT_EQ(assay["arrival"][name]["limits"]["avg"][0].as_double(),
              (point.arrival.*series).limits->mean.low);
  }
  EXPECT_EQ(assay["lateness"], metric_block(point.lateness));
  EXPECT_EQ(assay["read_delay"], metric_block(point.read_delay));
  EXPECT_EQ(assay["connect"], metric_block(point.connect));
  EXPECT_EQ(assay["fragment_tokens"], metric_block(point.fragment_tokens));
  EXPECT_EQ(assay["audio"]["first"], metric_block(point.audio.first));
  EXPECT_EQ(assay["audio"]["first_due"], metric_block(point.audio.first_due));
  EXPECT_EQ(assay["audio"]["first_read"], metric_block(point.audio.first_read));
  EXPECT_EQ(assay["audio"]["speed"], metric_block(point.audio.speed));
  EXPECT_EQ(assay["audio"]["waits"], metric_block(point.audio.waits));
}

TEST(ResultFigures, each_figure_of_a_series_is_its_own) {
  const Distribution series = numbered_series(7, true);
  const Json block = metric_block(series);
  EXPECT_EQ(block["total"].as_int(), 7001);
  EXPECT_EQ(block["min"].dump(), "7002");
  EXPECT_EQ(block["max"].dump(), "7003");
  EXPECT_EQ(block["median"].as_double(), series.median());
  EXPECT_EQ(block["avg"].as_double(), 7004);
  EXPECT_EQ(block["std_dev"].as_double(), 7005);
  ASSERT_EQ(block["percentiles"].size(), kPercentiles.size());
  ASSERT_EQ(block["early_stopping_percentiles"].size(), kEstimates);
  EXPECT_EQ(block["histogram"].dump(), R"({"buckets":[[1.0,2.0],[4.0,5.0]],"counts":[3,7]})");
  Point point;
  point.arrival.ttft = series;
  const Json limits = result_summary(point)["assay"]["arrival"]["ttft"]["limits"];
  EXPECT_EQ(limits["min"].dump(), "[7300.0,7301.0]");
  EXPECT_EQ(limits["max"].dump(), "[7302.0,7303.0]");
  EXPECT_EQ(limits["avg"].dump(), "[7304.0,7305.0]");
  ASSERT_EQ(limits["percentiles"].size(), kPercentiles.size());
  for (std::size_t i = 0; i < kPercentiles.size(); ++i) {
    const std::string key = json_number(kPercentiles[i]);
    EXPECT_EQ(block["percentiles"][key].as_double(), series.percentiles[i]) << key;
    EXPECT_EQ(limits["percentiles"][key][0].as_double(), series.limits->percentiles[i].low) << key;
    EXPECT_EQ(limits["percentiles"][key][1].as_double(), series.limits->percentiles[i].high) << key;
    if (i >= kEstimates) continue;
    EXPECT_EQ(block["early_stopping_percentiles"][key].as_double(), *series.early_stopping[i]);
  }
  Distribution ratio = series;
  ratio.whole = false;
  ratio.total = 1.5;
  ratio.min = 0.25;
  ratio.max = 0.75;
  const Json broken = metric_block(ratio);
  EXPECT_EQ(broken["total"].as_double(), 1.5);
  EXPECT_EQ(broken["min"].as_double(), 0.25);
  EXPECT_EQ(broken["max"].as_double(), 0.75);
}

TEST(ResultFigures, each_metric_of_the_snapshot_is_its_own) {
  Point point = point_of_differing_series();
  point.counts.issued = 31;
  point.counts.completed = 32;
  point.counts.failed = 33;
  point.counts.unfinished = 34;
  point.all_phases = {.issued = 41, .completed = 42, .failed = 43, .unfinished = 44};
  point.rates.duration = 51_ns;
  point.began = Instant{1000};
  point.ended = Instant{1061};
  const Json out = final_snapshot(point);
  EXPECT_EQ(out["counter"].as_int(), 1);
  EXPECT_EQ(out["timestamp_ns"].as_int(), 1061);
  EXPECT_EQ(out["n_pending_tasks"].as_int(), 34);
  Json named = Json::object();
  for (const Json& one : out["metrics"].items()) named.set(one["name"].as_string(), one);
  const auto value = [&](const char* name) { return named[name]["value"].as_int(-1); };
  EXPECT_EQ(value("total_samples_issued"), 41);
  EXPECT_EQ(value("total_samples_completed"), 42);
  EXPECT_EQ(value("total_samples_failed"), 43);
  EXPECT_EQ(value("tracked_samples_issued"), 31);
  EXPECT_EQ(value("tracked_samples_completed"), 32);
  EXPECT_EQ(value("tracked_samples_failed"), 33);
  EXPECT_EQ(value("tracked_duration_ns"), 51);
  EXPECT_EQ(value("total_duration_ns"), 61);
  EXPECT_EQ(value("legacy_loadgen_window_duration_ns"), 0);
  const std::vector<std::pair<const char*, const Distribution*>> series{
      {"sample_latency_ns", &point.arrival.latency},
      {"isl", &point.isl},
      {"osl", &point.osl},
      {"ttft_ns", &point.arrival.ttft},
      {"chunk_delta_ns", &point.arrival.itl},
      {"tpot_ns", &point.arrival.tpot}};
  for (const auto& [name, of] : series) {
    const Json& one = named[name];
    EXPECT_EQ(one["type"].as_string(), "series") << name;
    EXPECT_EQ(one["count"].as_uint(), of->count) << name;
    EXPECT_EQ(one["total"].as_int(), of->total_whole) << name;
    EXPECT_EQ(one["min"].as_double(), of->min) << name;
    EXPECT_EQ(one["max"].as_double(), of->max) << name;
    EXPECT_EQ(one["sum_sq"].as_double(), of->sum_sq) << name;
    EXPECT_EQ(one["percentiles"], metric_block(*of)["percentiles"]) << name;
    EXPECT_EQ(one["early_stopping_percentiles"], metric_block(*of)["early_stopping_percentiles"]);
    EXPECT_EQ(one["histogram"].size(), 2U) << name;
    EXPECT_EQ(one["histogram"][0].dump(), "[[1.0,2.0],3]") << name;
    EXPECT_EQ(one["histogram"][1][1].as_uint(), of->count) << name;
  }
  point.arrival.ttft = {};
  const Json whole = final_snapshot(point);
  EXPECT_EQ(whole["metrics"].size(), out["metrics"].size() - 3) << "a run that was not streamed";
  point.began = Instant::none();
  const Json silent = final_snapshot(point);
  EXPECT_EQ(silent["timestamp_ns"].as_int(-1), 0) << "nothing was heard";
  int seen = 0;
  for (const Json& metric : silent["metrics"].items()) {
    if (metric["name"].as_string() != "total_duration_ns") continue;
    ++seen;
    EXPECT_EQ(metric["value"].as_int(-1), 0) << "nothing was heard";
  }
  EXPECT_EQ(seen, 1);
}

TEST(ResultFigures, each_count_and_each_rate_is_its_own) {
  Point point;
  point.counts = {.issued = 31, .completed = 32, .failed = 33, .unfinished = 34};
  point.all_phases = {.issued = 41, .completed = 42, .failed = 43, .unfinished = 44};
  std::uint64_t number = 61;
  for (std::uint64_t& count : point.counts.finish) count = number++;
  point.rates.duration = 1_ns;
  point.rates.qps = 1.5;
  point.rates.tps = 2.5;
  point.rates.tps_per_user = 3.5;
  point.rates.legacy_window = 4_ns;
  point.rates.legacy_qps = 5.5;
  point.rates.legacy_tps = 6.5;
  point.rates.offered_qps = 7.5;
  point.rates.achieved_qps = 8.5;
  point.stamps = {.events = 71, .kernel_stamped = 72, .shares_read = 73};
  point.audio = {.replies = 81, .of_unknown_length = 82, .bytes = 83, .seconds = 84.5};
  point.audio.per_second = 85.5;
  point.audio.played = 86;
  point.audio.waited = 87;
  point.audio.underruns = 88;
  const Json out = result_summary(point);
  EXPECT_EQ(out["n_samples_issued"].as_int(), 31);
  EXPECT_EQ(out["n_samples_completed"].as_int(), 32);
  EXPECT_EQ(out["n_samples_failed"].as_int(), 33);
  EXPECT_EQ(out["qps"].as_double(), 1.5);
  EXPECT_EQ(out["tps"].as_double(), 2.5);
  EXPECT_EQ(out["system_tps"].as_double(), 2.5);
  EXPECT_EQ(out["tps_per_user"].as_double(), 3.5);
  const Json& assay = out["assay"];
  EXPECT_EQ(assay["counts"].dump(), R"({"issued":31,"completed":32,"failed":33,"unfinished":34})");
  EXPECT_EQ(assay["all_phases"].dump(),
            R"({"issued":41,"completed":42,"failed":43,"unfinished":44})");
  EXPECT_EQ(assay["rates"].dump(),
            R"({"qps":1.5,"tps":2.5,"legacy_window_ns":4,"legacy_qps":5.5,"legacy_tps":6.5,)"
            R"("offered_qps":7.5,"achieved_qps":8.5})");
  EXPECT_EQ(assay["stamps"].dump(), R"({"events":71,"kernel_stamped":72,"shares_read":73})");
  EXPECT_EQ(out["finish_reason_counts"].size(), 6U);
  for (const auto& [reason, count] : out["finish_reason_counts"].members()) {
    bool known = false;
    for (int i = 0; i < kFinishReasons; ++i) {
      if (to_string(static_cast<FinishReason>(i)) != reason) continue;
      known = true;
      EXPECT_EQ(count.as_uint(), point.counts.finish[static_cast<std::size_t>(i)]) << reason;
    }
    EXPECT_TRUE(known) << reason;
  }
  const Json& audio = assay["audio"];
  EXPECT_EQ(audio["replies"].as_int(), 81);
  EXPECT_EQ(audio["of_unknown_length"].as_int(), 82);
  EXPECT_EQ(audio["bytes"].as_int(), 83);
  EXPECT_EQ(audio["seconds"].as_double(), 84.5);
  EXPECT_EQ(audio["per_second"].as_double(), 85.5);
  EXPECT_EQ(audio["played"].as_int(), 86);
  EXPECT_EQ(audio["waited"].as_int(), 87);
  EXPECT_EQ(audio["underruns"].as_int(), 88);
}

TEST(ResultFigures, each_count_of_tokens_is_its_own) {
  Point point;
  Tokens& tokens = point.tokens;
  tokens.replies_counted = 1;
  tokens.replies_uncounted = 2;
  tokens.prompt = 3;
  tokens.output = 4;
  tokens.reasoning = 5;
  tokens.cached = 6;
  tokens.hidden = 7;
  tokens.contradicted = 8;
  tokens.contradicted_said = 9;
  tokens.contradicted_counted = 10;
  tokens.empty_replies = 11;
  tokens.not_streamed = 12;
  tokens.went_on_after_done = 13;
  tokens.replies_of_several_choices = 14;
  tokens.short_of_choices = 16;
  tokens.unread_events = 17;
  tokens.replies_with_unread = 18;
  tokens.per_fragment = 15.5;
  std::uint64_t number = 21;
  for (std::uint64_t& count : tokens.replies_by) count = number++;
  number = 31;
  for (std::uint64_t& count : tokens.contradicted_by) count = number++;
  const Json out = result_summary(point)["assay"]["tokens"];
  const std::vector<std::pair<const char*, int>> expected{{"replies_counted", 1},
                                                          {"replies_uncounted", 2},
                                                          {"prompt", 3},
                                                          {"output", 4},
                                                          {"reasoning", 5},
                                                          {"cached", 6},
                                                          {"hidden", 7},
                                                          {"empty_replies", 11},
                                                          {"not_streamed", 12},
                                                          {"went_on_after_done", 13},
                                                          {"replies_of_several_choices", 14},
                                                          {"short_of_choices", 16},
                                                          {"unread_events", 17},
                                                          {"replies_with_unread", 18}};
  for (const auto& [key, value] : expected) EXPECT_EQ(out[key].as_int(), value) << key;
  EXPECT_EQ(out["per_fragment"].as_double(), 15.5);
  EXPECT_EQ(out["replies_by"].size(), tokens.replies_by.size());
  for (std::size_t i = 0; i < tokens.replies_by.size(); ++i) {
    EXPECT_EQ(out["replies_by"][to_string(static_cast<TokenBasis>(i))].as_uint(), 21 + i);
  }
  const Json& wrong = out["contradicted"];
  EXPECT_EQ(wrong["replies"].as_int(), 8);
  EXPECT_EQ(wrong["said"].as_int(), 9);
  EXPECT_EQ(wrong["counted"].as_int(), 10);
  EXPECT_EQ(wrong.size(), tokens.contradicted_by.size() + 2) << "`none` is not a contradiction";
  for (std::size_t i = 1; i < tokens.contradicted_by.size(); ++i) {
    EXPECT_EQ(wrong[to_string(static_cast<Contradiction>(i))].as_uint(), 31 + i);
  }
  for (const bool taken : {false, true}) {
    tokens.first_fragment_taken_for_one = taken;
    const Json said = result_summary(point)["assay"]["tokens"];
    EXPECT_EQ(said["first_fragment_taken_for_one"].as_bool(!taken), taken);
  }
}

TEST(ResultFigures, instants_are_counted_from_the_runs_beginning) {
  Point point;
  point.began = Instant{1000};
  point.ended = Instant{9000};
  point.phases.push_back({.kind = PhaseKind::warmup,
                          .name = "w",
                          .started = Instant{1001},
                          .issue_ended = Instant{1003},
                          .drained = Instant{1006},
                          .counts = {.issued = 1, .completed = 2, .failed = 3, .unfinished = 4}});
  point.failures.push_back({Outcome::timed_out, 5, {{6, 7, 8, 504, Instant{1010}, "late"}}});
  Json out = result_summary(point)["assay"];
  const Json& phase = out["phases"][0];
  EXPECT_EQ(phase["name"].as_string(), "w");
  EXPECT_EQ(phase["kind"].as_string(), to_string(PhaseKind::warmup));
  EXPECT_EQ(phase["started_ns"].as_int(), 1);
  EXPECT_EQ(phase["issue_ended_ns"].as_int(), 3);
  EXPECT_EQ(phase["drained_ns"].as_int(), 6);
  EXPECT_EQ(phase["counts"]["issued"].as_int(), 1);
  EXPECT_EQ(phase["counts"]["unfinished"].as_int(), 4);
  EXPECT_EQ(out["failures"].dump(),
            R"([{"outcome":"timed_out","count":5,"examples":[{"query":6,"sample":7,"endpoint":8,)"
            R"("http_status":504,"at_ns":10,"detail":"late"}]}])");
  point.began = Instant::none();
  out = result_summary(point)["assay"];
  EXPECT_TRUE(out["phases"][0]["started_ns"].is_null()) << "nothing was heard";
}

}  // namespace
}  // namespace assay::metrics
