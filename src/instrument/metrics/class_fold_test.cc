#include "metrics/class_fold.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace assay::metrics {
namespace {

// A run of one measured phase, in which row i's reply takes (i + 1) ms to its first token and 10 ms
// more to its end; every tenth fails.
ClassReport class_report(const TrafficMix& mix, std::uint32_t rows) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  ClassFold fold(info, mix);
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {}});
  for (std::uint32_t row = 0; row < rows; ++row) {
    Event event;
    event.query.index = row;
    event.query.sample = row;
    event.streamed = true;
    event.due = event.sent = {};
    event.first_byte = event.first_event = event.first_token = event.sent + 1_ms * (row + 1);
    event.last_token = event.done = event.first_token + 10_ms;
    event.fragments = 11;
    event.output_bytes = 44;
    event.first_fragment_bytes = 4;
    event.usage = {.prompt_tokens = 100, .completion_tokens = 11};
    if (row % 10 == 9) event.outcome = Outcome::reset;
    fold.on_sent(event.query, event.due, event.sent);
    fold.on_done(event, "");
  }
  return fold.finish();
}

TEST(ClassFold, each_class_has_its_own_figures_and_a_failed_query_has_missed) {
  const TrafficMix mix = {
      {.name = "a", .share = 3, .slo = "ttft<=50ms", .limits = {{"ttft", 50_ms}}},
      {.name = "b", .share = 1}};
  const ClassReport report = class_report(mix, 100);
  // The same by hand.
  std::array<std::uint64_t, 2> ended{};
  std::array<std::uint64_t, 2> good{};
  std::array<std::uint64_t, 2> succeeded{};
  std::array<double, 2> ttft_max{};
  for (std::uint32_t row = 0; row < 100; ++row) {
    const std::size_t of = class_of(mix, row);
    ++ended[of];
    if (row % 10 == 9) continue;
    ++succeeded[of];
    ttft_max[of] = std::max(ttft_max[of], (row + 1) * 1e6);
    if (of == 1 || row + 1 <= 50) ++good[of];
  }
  ASSERT_EQ(report.classes.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const ClassFigures& one = report.classes[i];
    EXPECT_EQ(one.ended, ended[i]);
    EXPECT_EQ(one.succeeded, succeeded[i]);
    EXPECT_EQ(one.good, good[i]);
    EXPECT_EQ(one.ttft.count, succeeded[i]);
    EXPECT_EQ(one.ttft.max, ttft_max[i]);
    EXPECT_EQ(one.output_tokens, static_cast<std::int64_t>(11 * succeeded[i]));
    EXPECT_EQ(one.prompt_tokens, static_cast<std::int64_t>(100 * succeeded[i]));
  }
  const double a = static_cast<double>(good[0]) / static_cast<double>(ended[0]);
  const double b = static_cast<double>(good[1]) / static_cast<double>(ended[1]);
  ASSERT_TRUE(report.fairness);
  EXPECT_DOUBLE_EQ(*report.fairness, (a + b) * (a + b) / (2 * (a * a + b * b)));
  EXPECT_EQ(report.window, 110_ms);  // the last to end failed, and ended all the same
  EXPECT_EQ(to_json(report)["classes"][0]["good"].as_uint(), good[0]);
  EXPECT_EQ(class_lines(report).size(), 3U);
}

// One reply of each class, and what is known of it.
ClassReport one_each(const TrafficMix& mix,
                     Usage usage = {.prompt_tokens = 7, .completion_tokens = 11}) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  ClassFold fold(info, mix);
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {}});
  std::vector<bool> seen(mix.size(), false);
  for (std::uint32_t row = 0; std::ranges::count(seen, false) > 0; ++row) {
    if (seen[class_of(mix, row)]) continue;
    seen[class_of(mix, row)] = true;
    Event event;
    event.query.index = event.query.sample = row;
    event.streamed = true;
    event.due = event.sent = {};
    event.first_byte = event.first_event = event.first_token = event.sent + 5_ms;
    event.last_token = event.done = event.sent + 25_ms;  // TPOT 2 ms
    event.fragments = 11;
    event.output_bytes = 44;
    event.first_fragment_bytes = 4;
    event.usage = usage;
    fold.on_sent(event.query, event.due, event.sent);
    fold.on_done(event, "");
  }
  return fold.finish();
}

TEST(ClassFold, a_limit_is_kept_up_to_it_and_of_every_series) {
  for (const char* series : {"ttft", "tpot", "latency"}) {
    const Duration is = series == std::string_view("ttft")   ? 5_ms
                        : series == std::string_view("tpot") ? 2_ms
                                                             : 25_ms;
    const auto good = [&](Duration most) {
      return one_each({{.name = "a", .limits = {{series, most}}}}).classes[0].good;
    };
    EXPECT_EQ(good(is), 1U) << series;
    EXPECT_EQ(good(is - 1_ns), 0U) << series;
  }
  const TrafficMix both = {{.name = "a", .limits = {{"ttft", 1_s}, {"latency", 1_ms}}}};
  EXPECT_EQ(one_each(both).classes[0].good, 0U) << "all of them";
}

TEST(ClassFold, what_the_server_does_not_say_adds_nothing) {
  const ClassReport report = one_each({{.name = "a"}}, Usage{});
  EXPECT_EQ(report.classes[0].prompt_tokens, 0);
  EXPECT_EQ(report.classes[0].succeeded, 1U);
}

// Three replies of one class: a stream of two choices, one that was not streamed and said nothing
// of its tokens, and one that failed.
TEST(ClassFold, a_reply_has_nothing_of_the_one_before) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  ClassFold fold(info, {{.name = "a"}});
  fold.on_phase({.phase = 0, .step = PhaseStep::started, .at = {}});
  Event event;
  event.streamed = true;
  event.due = event.sent = {};
  event.choices_asked = 2;
  event.usage = {.prompt_tokens = 7, .completion_tokens = 12};
  for (const bool second : {false, true, false, true}) {
    StreamEvent told{};
    told.category = Category::text;
    told.bytes = 4;
    told.choice = second ? 1 : 0;
    told.arrival = told.read = event.sent + 5_ms * (event.fragments + 1);
    if (event.fragments++ == 0) event.first_token = told.arrival;
    event.last_token = event.done = told.arrival;
    fold.on_stream_event(event.query, told, "text");
  }
  event.output_bytes = 16;
  event.first_fragment_bytes = 4;
  fold.on_done(event, "");
  Event whole;
  whole.query.index = 1;
  whole.sent = whole.due = {};
  whole.done = whole.sent + 50_ms;
  fold.on_done(whole, "");
  whole.query.index = 2;
  whole.outcome = Outcome::reset;
  fold.on_done(whole, "");
  const ClassFigures one = fold.finish().classes[0];
  EXPECT_EQ(one.ended, 3U);
  EXPECT_EQ(one.succeeded, 2U);
  EXPECT_EQ(one.ttft.count, 1U);
  EXPECT_EQ(one.tpot.count, 2U) << "one a choice";
  EXPECT_EQ(one.latency.count, 2U);
  EXPECT_EQ(one.output_tokens, 12);
}

TEST(ClassFold, any_window_gives_a_rate_and_none_gives_none) {
  ClassReport report;
  report.classes.resize(1);
  report.classes[0].good = 1;
  const auto rate = [&report] { return to_json(report)["classes"][0]["goodput_qps"].as_double(); };
  EXPECT_EQ(rate(), 0);
  report.window = 1_ns;
  EXPECT_DOUBLE_EQ(rate(), 1e9);
}

TEST(ClassFold, its_json_and_its_lines_have_every_figure) {
  const TrafficMix mix = {
      {.name = "a", .share = 3, .slo = "ttft<=5ms", .limits = {{"ttft", 5_ms}}},
      {.name = "b", .share = 1, .slo = "ttft<=1ms", .limits = {{"ttft", 1_ms}}}};
  const ClassReport report = one_each(mix);
  for (const ClassFigures& one : report.classes) {
    EXPECT_FALSE(one.ttft.estimated || one.tpot.estimated || one.latency.estimated);
  }
  const Json json = to_json(report);
  EXPECT_EQ(json["window_ns"].as_int(), 25'000'000);
  EXPECT_DOUBLE_EQ(json["fairness"].as_double(), 0.5);
  EXPECT_EQ(json["classes"][0].dump(),
            R"({"name":"a","share":3.0,"slo":"ttft<=5ms","ended":1,"succeeded":1,"failed":0,)"
            R"("good":1,"attainment":1.0,"goodput_qps":40.0,"prompt_tokens":7,"output_tokens":11,)"
            R"("tps":440.0,"ttft":{"count":1,"mean":5000000.0,"p50":5000000.0,"p90":5000000.0,)"
            R"("p99":5000000.0,"max":5000000.0},"tpot":{"count":1,"mean":2000000.0,)"
            R"("p50":2000000.0,"p90":2000000.0,"p99":2000000.0,"max":2000000.0},)"
            R"("latency":{"count":1,"mean":25000000.0,"p50":25000000.0,"p90":25000000.0,)"
            R"("p99":25000000.0,"max":25000000.0}})");
  const auto lines = class_lines(report);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].second,
            "a: 1 queries; TTFT P50 5.00 ms, P99 5.00 ms; TPOT P50 2.00 ms, P99 2.00 ms; latency "
            "P50 25.0 ms, P99 25.0 ms; 440 tok/s; ttft<=5ms: 100.0 % kept, 40.0 good queries/s");
  EXPECT_EQ(lines[1].second.substr(lines[1].second.find("ttft<")),
            "ttft<=1ms: 0.0 % kept, 0.00 good queries/s");
  EXPECT_EQ(lines[2].first, "fairness");
  EXPECT_EQ(lines[2].second,
            "0.500 (Jain's index of the classes' attainment; 1 is even, 0.50 is one class alone)");
}

TEST(ClassFold, a_class_without_a_query_has_no_figures) {
  ClassReport none;
  none.classes = {{.traffic = {.name = "a"}},
                  {.traffic = {.name = "b"}, .ended = 3, .succeeded = 1}};
  EXPECT_EQ(none.classes[0].attainment(), 0);
  EXPECT_TRUE(to_json(none)["fairness"].is_null());
  EXPECT_EQ(to_json(none)["classes"][0]["goodput_qps"].as_double(-1), 0) << "no window, no rate";
  EXPECT_EQ(to_json(none)["classes"][0]["ttft"].dump(), R"({"count":0})");
  const auto lines = class_lines(none);
  EXPECT_EQ(lines[0].second, "a: 0 queries; 0.00 tok/s");
  EXPECT_EQ(lines[1].second, "b: 3 queries, 2 failed; 0.00 tok/s");
}

TEST(ClassFold, a_series_in_json_has_its_mean_its_percentiles_and_its_largest_value) {
  Series series;
  for (const std::int64_t value : {1, 2, 9}) series.add(value);
  const Json json = series_json(series.finish(false));
  EXPECT_EQ(json["count"].as_int(), 3);
  EXPECT_EQ(json["mean"].as_double(), 4);
  EXPECT_EQ(json["p50"].as_double(), 2);
  EXPECT_EQ(json["max"].as_double(), 9);
}

TEST(ClassFold, one_class_alone_is_neither_fair_nor_unfair) {
  EXPECT_FALSE(class_report({{.name = "a"}}, 20).fairness);
  const std::vector<ClassLimit> none = {{.series = "latency", .most = 1_ns}};
  EXPECT_FALSE(
      class_report({{.name = "a", .limits = none}, {.name = "b", .limits = none}}, 20).fairness)
      << "nor are two that kept no promise";
}

}  // namespace
}  // namespace assay::metrics
