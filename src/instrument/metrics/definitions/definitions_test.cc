// Cases worked by hand; the numbers beside each definition can be checked with a pencil.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/format.h"
#include "metrics/axis_fold.h"
#include "metrics/class_fold.h"
#include "metrics/definitions/definition_fold.h"
#include "metrics/point_fold.h"
#include "metrics/result_json.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

constexpr double kMs = 1e6;

// Sent at 10 ms over a connection that took 2 ms to open: other tools began at 8 ms. A role-only
// event, reasoning before text, three tokens in the event at 40 ms, the finish reason and usage in
// events of their own, and a [DONE] that comes 28 ms late. Seven tokens.
HandMadeQuery rich_query() {
  HandMadeQuery q{};
  q.due = at_ms(0);
  q.sent = at_ms(10);
  q.events = {{at_ms(20), "", Category::role},      {at_ms(30), "hm", Category::reasoning},
              {at_ms(40), "a b c", Category::text}, {at_ms(60), "d", Category::text},
              {at_ms(70), "", Category::finish},    {at_ms(72), "", Category::usage},
              {at_ms(100), "", Category::marker}};
  q.done = at_ms(100);
  q.usage.completion_tokens = 7;
  return q;
}

Figures figures(std::string_view name, const HandMadeQuery& q, bool connected = true,
                const TokenCount* counted = nullptr) {
  Event event = event_of(q);
  event.connected = connected;
  event.connect_time = 2_ms;
  std::vector<StreamEvent> events;
  ReplyEvidence evidence;
  for (const HandMadeFragment& e : q.events) {
    StreamEvent one{};
    one.category = e.category;
    one.choice = e.choice;
    one.arrival = e.arrival;
    events.push_back(one);
    evidence.add(one);
  }
  TokenTruth truth;
  reconcile(event, evidence, counted, truth);
  Figures out;
  out.clear();
  const Definition* const definition = find_definition(name);
  EXPECT_NE(definition, nullptr) << name;
  if (definition != nullptr) {
    definition->measure({event, events, "", "", counted, &truth}, out);
  }
  return out;
}

struct Expected {
  std::string_view name{};
  double ttft = 0;  // ms
  std::optional<double> tpot{};
  std::vector<double> itl{};
  double latency = 0;
};

void expect(const Expected& e, const Figures& f) {
  EXPECT_TRUE(f.success) << e.name;
  ASSERT_TRUE(f.ttft && f.latency) << e.name;
  EXPECT_NEAR(*f.ttft, e.ttft * kMs, 1) << e.name;
  EXPECT_NEAR(*f.latency, e.latency * kMs, 1) << e.name;
  ASSERT_EQ(f.tpot.has_value(), e.tpot.has_value()) << e.name;
  EXPECT_NEAR(f.tpot.value_or(0), e.tpot.value_or(0) * kMs, 1) << e.name;
  std::vector<double> itl = e.itl;
  for (double& gap : itl) gap *= kMs;
  EXPECT_THAT(f.itl, Pointwise(DoubleNear(1), itl)) << e.name;
}

// One record serves all replies of a tool.
TEST(Definitions, figures_that_are_cleared_have_nothing_of_the_reply_before) {
  Figures used;
  used.success = true;
  used.measured = false;
  used.start = used.end = at_ms(3);
  used.ttft = used.tpot = used.latency = 1.5;
  used.tokens = 7;
  used.basis = TokenBasis::fragments;
  used.more_tpot = used.itl = {2, 3};
  used.tpot_weight = used.itl_weight = 4;
  used.clear();
  EXPECT_FALSE(used.success);
  EXPECT_TRUE(used.measured);
  EXPECT_FALSE(used.start.known() || used.end.known());
  EXPECT_FALSE(used.ttft || used.tpot || used.latency || used.tokens);
  EXPECT_EQ(used.basis, TokenBasis::none);
  EXPECT_TRUE(used.more_tpot.empty() && used.itl.empty());
  EXPECT_EQ(used.tpot_weight, 1);
  EXPECT_EQ(used.itl_weight, 1);
}

TEST(Definitions, role_first_reasoning_several_tokens_in_an_event_and_a_late_done) {
  const HandMadeQuery q = rich_query();
  const std::vector<Expected> all{
      {"assay", 30 - 10, 70.0 / 6, {10, 20}, 90},
      {"endpoints", 30 - 10, 70.0 / 6, {10, 20}, 90},
      {"vllm", 20 - 8, 50.0 / 6, {10, 10, 20, 10}, 70 - 8},
      {"sglang", 40 - 8, 60.0 / 6, {20}, 100 - 8},
      {"aiperf", 30 - 8, std::nullopt, {30.0 / 6}, 60 - 8},
      {"guidellm", 30 - 8, 52.0 / 7, {30.0 / 6}, 100 - 8},
      {"inference-perf", 30 - 8, 30.0 / 6, {10, 20, 0, 0, 0, 0}, 100 - 8},
      {"genai-perf", 40 - 8, std::nullopt, {20.0 / 6}, 60 - 8},
      {"otel", 20 - 8, std::nullopt, {10, 10, 20, 10, 2}, 100 - 8},
  };
  ASSERT_EQ(all.size(), definitions().size());
  for (const Expected& e : all) expect(e, figures(e.name, q));
}

TEST(Definitions, a_connection_from_the_pool_is_no_part_of_a_request) {
  const Figures f = figures("vllm", rich_query(), false);
  EXPECT_NEAR(*f.ttft, 10 * kMs, 1);
}

TEST(Definitions, a_connection_that_was_opened_before_a_query_was_due_began_no_request) {
  HandMadeQuery q = rich_query();
  q.due = at_ms(9);
  EXPECT_NEAR(*figures("vllm", q).ttft, (20 - 9) * kMs, 1);
  q.due = at_ms(11);  // never behind the sending
  EXPECT_NEAR(*figures("vllm", q).ttft, (20 - 10) * kMs, 1);
}

// Counted after the run: nine tokens, five of them after the first fragment; usage gave seven.
TEST(Definitions, tokens_are_counted_as_each_tool_counts_them) {
  const TokenCount counted{.input = 3, .output = 9, .after_first = 5};
  const auto of = [&](std::string_view name) {
    return figures(name, rich_query(), true, &counted);
  };
  for (const std::string_view name : {"vllm", "sglang", "guidellm", "otel"}) {
    EXPECT_EQ(of(name).tokens, 7) << name;
    EXPECT_EQ(of(name).basis, TokenBasis::usage) << name;
  }
  for (const std::string_view name :
       {"assay", "endpoints", "aiperf", "inference-perf", "genai-perf"}) {
    EXPECT_EQ(of(name).tokens, 9) << name;
    EXPECT_EQ(of(name).basis, TokenBasis::tokenizer) << name;
  }
  expect({"assay", 20, 70.0 / 5, {10, 20}, 90}, of("assay"));
  expect({"endpoints", 20, 70.0 / 5, {10, 20}, 90}, of("endpoints"));
  expect({"vllm", 12, 50.0 / 6, {10, 10, 20, 10}, 62}, of("vllm"));
  expect({"aiperf", 22, std::nullopt, {30.0 / 8}, 52}, of("aiperf"));
  expect({"genai-perf", 32, std::nullopt, {20.0 / 8}, 52}, of("genai-perf"));
  expect({"inference-perf", 22, 30.0 / 8, {10, 20, 0, 0, 0, 0, 0, 0}, 92}, of("inference-perf"));
}

TEST(Definitions, without_usage_vllm_tokenises_and_guidellm_takes_iterations_for_tokens) {
  const TokenCount counted{.input = 3, .output = 9, .after_first = 5};
  HandMadeQuery q = rich_query();
  q.usage = {};
  expect({"vllm", 12, 50.0 / 8, {10, 10, 20, 10}, 62}, figures("vllm", q, true, &counted));
  expect({"guidellm", 22, 52.0 / 3, {30.0 / 2}, 92}, figures("guidellm", q, true, &counted));
  EXPECT_EQ(figures("guidellm", q, true, &counted).basis, TokenBasis::fragments);
  EXPECT_EQ(figures("vllm", q).basis, TokenBasis::none);
  q.usage.completion_tokens = 70;
  q.tokens_max = 20;  // the server contradicts it
  EXPECT_EQ(figures("vllm", q).basis, TokenBasis::fragments);
  EXPECT_EQ(figures("vllm", q).tokens, 3);
  q.usage = {};
  q.tokens_max = -1;
  EXPECT_FALSE(figures("vllm", q).tpot);
}

TEST(Definitions, each_choice_of_a_reply_has_its_own_tpot) {
  HandMadeQuery q{};
  q.due = q.sent = at_ms(0);
  q.events = {{at_ms(10), "a"}, {at_ms(15), "b"}, {at_ms(20), "c"}, {at_ms(35), "d"}};
  q.events[1].choice = q.events[3].choice = 1;
  q.done = at_ms(35);
  q.usage.completion_tokens = 4;
  const Figures two = figures("assay", q);
  EXPECT_EQ(two.tpot, 10 * kMs);
  EXPECT_EQ(two.more_tpot, std::vector<double>{20 * kMs});
  HandMadeQuery short_first = q;
  short_first.events[2].choice = 1;
  EXPECT_EQ(figures("assay", short_first).tpot, 10 * kMs) << "the first has one fragment";
  HandMadeQuery at_once = steady_query(0, 0, 0, 10, 10, 1);
  at_once.usage.completion_tokens = 3;
  at_once.done = at_ms(50);
  EXPECT_EQ(figures("assay", at_once).tpot, std::nullopt) << "all in one fragment";
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  ClassFold classes(info, {{.name = "a"}});
  AxisFold axes(info,
                {.axes = {{.name = "locale", .values = {"en"}, .rows = {0}}}, .characters = {1}});
  tell(q, classes);
  tell(q, axes);
  EXPECT_EQ(classes.finish().classes[0].tpot.count, 2U);
  EXPECT_EQ(axes.finish()[0].tpot.count, 2U);
  EXPECT_TRUE(classes.finish().classes.empty() && axes.finish().empty()) << "all is told once";
}

TEST(Definitions, guidellm_weighs_a_request_by_its_tokens) {
  const Figures f = figures("guidellm", rich_query());
  EXPECT_EQ(f.tpot_weight, 7);
  EXPECT_EQ(f.itl_weight, 6);
}

TEST(Definitions, reasoning_alone_is_a_first_token_to_some_and_nothing_to_others) {
  HandMadeQuery q = rich_query();
  std::erase_if(q.events, [](const auto& e) { return e.category == Category::text; });
  EXPECT_TRUE(figures("aiperf", q).ttft);
  EXPECT_TRUE(figures("assay", q).ttft);
  EXPECT_FALSE(figures("sglang", q).ttft);
  EXPECT_FALSE(figures("genai-perf", q).ttft);
}

TEST(Definitions, a_stream_that_breaks_off_is_a_success_to_the_reference_client_only) {
  HandMadeQuery q = rich_query();
  q.outcome = Outcome::truncated;
  q.events.resize(3);
  q.done = at_ms(50);
  for (const Definition* definition : definitions()) {
    const Figures f = figures(definition->name, q);
    EXPECT_EQ(f.success, definition->name == "endpoints") << definition->name;
    const bool kept = definition->name == "endpoints" || definition->name == "otel";
    EXPECT_EQ(f.measured, kept) << definition->name;
  }
}

TEST(Definitions, an_error_inside_a_stream_passes_unseen_where_only_choices_are_read) {
  HandMadeQuery q = rich_query();
  q.outcome = Outcome::stream_error;
  q.events.resize(3);
  q.events.push_back({at_ms(45), "", Category::error});
  q.done = at_ms(45);
  for (const Definition* definition : definitions()) {
    const bool success = definition->name == "endpoints" || definition->name == "vllm" ||
                         definition->name == "sglang";
    EXPECT_EQ(figures(definition->name, q).success, success) << definition->name;
  }
  // With no event before the error, vLLM has no first chunk and reports it.
  q.events.erase(q.events.begin(), q.events.begin() + 3);
  EXPECT_FALSE(figures("vllm", q).success);
}

TEST(Definitions, a_refused_request_is_latency_to_two_of_them) {
  HandMadeQuery q = rich_query();
  q.outcome = Outcome::http_error;
  q.events.clear();
  q.done = at_ms(12);
  for (const Definition* definition : definitions()) {
    const Figures f = figures(definition->name, q);
    EXPECT_FALSE(f.success) << definition->name;
    EXPECT_FALSE(f.ttft) << definition->name;
    EXPECT_THAT(f.itl, IsEmpty()) << definition->name;
  }
  EXPECT_NEAR(*figures("endpoints", q).latency, 2 * kMs, 1);
  EXPECT_NEAR(*figures("otel", q).latency, 4 * kMs, 1);
}

TEST(Definitions, a_reply_without_a_stream_has_a_latency_and_for_sglang_a_ttft) {
  HandMadeQuery q = rich_query();
  q.streamed = false;
  q.events = {{at_ms(95), "all", Category::text}, {at_ms(95), " of it", Category::text}};
  const Figures sglang = figures("sglang", q);
  EXPECT_NEAR(sglang.ttft.value(), 92 * kMs, 1);
  EXPECT_NEAR(sglang.latency.value(), 92 * kMs, 1);
  EXPECT_FALSE(sglang.tpot);
  for (const Definition* definition : definitions()) {
    const Figures f = figures(definition->name, q);
    EXPECT_TRUE(f.latency) << definition->name;
    EXPECT_EQ(f.ttft.has_value(), definition->name == "sglang") << definition->name;
    EXPECT_THAT(f.itl, IsEmpty()) << definition->name;
  }
}

DefinedSeries series_of(PercentileRule rule, const std::vector<double>& values) {
  WeightedSeries series(1000);
  for (const double value : values) series.add(value);
  return series.finish(rule);
}

TEST(Definitions, percentiles_by_each_rule) {
  const std::vector<double> values{4, 1, 3, 2};
  EXPECT_EQ(series_of(PercentileRule::lower, values).percentiles[0], 2);
  EXPECT_EQ(series_of(PercentileRule::linear, values).percentiles[0], 2.5);
  EXPECT_EQ(series_of(PercentileRule::inverse, values).percentiles[0], 2);
  EXPECT_EQ(series_of(PercentileRule::inverse, values).percentiles[1], 4);
  // 5, 15, 15 and 35 ms: one is in (0, 10], two in (10, 20]; the second of four is half-way.
  EXPECT_NEAR(series_of(PercentileRule::buckets, {5e6, 15e6, 15e6, 35e6}).percentiles[0], 15e6, 1);
  WeightedSeries weighted(1000);
  for (const auto& [value, weight] : {std::pair{1.0, 1.0}, {2.0, 1.0}, {3.0, 10.0}}) {
    weighted.add(value, weight);
  }
  const DefinedSeries out = weighted.finish(PercentileRule::inverse);
  EXPECT_EQ(out.percentiles[0], 3);
  EXPECT_NEAR(out.mean, 33.0 / 12, 1e-12);
  // 99.9 % of a thousand are 999, which 99.9 / 100 * 1000 misses in its last digit.
  WeightedSeries thousand(1000);
  for (int i = 1; i <= 1000; ++i) thousand.add(i);
  EXPECT_EQ(thousand.finish(PercentileRule::inverse).percentiles[3], 999);
}

TEST(Definitions, beyond_its_room_a_series_is_counted_in_buckets_and_says_so) {
  WeightedSeries series(10);
  for (int i = 1; i <= 1000; ++i) series.add(i * 1e4);
  const DefinedSeries out = series.finish(PercentileRule::linear);
  EXPECT_FALSE(out.exact);
  EXPECT_EQ(out.count, 1000U);
  EXPECT_NEAR(out.percentiles[0], 5e6, 5e6 * 0.01);
  EXPECT_NEAR(out.mean, 5005e3, 1);
}

RunInfo two_phases() {
  RunInfo info;
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false}};
  return info;
}

TEST(Definitions, our_row_is_what_the_report_says_and_windows_are_each_tool_s) {
  const std::vector<const Definition*> all(definitions().begin(), definitions().end());
  DefinitionFold fold(two_phases(), all);
  PointFold point_fold(two_phases());
  for (EventSink* sink : {static_cast<EventSink*>(&fold), static_cast<EventSink*>(&point_fold)}) {
    tell(steady_query(0, 0, 0, 5, 1, 3), *sink);  // warm-up: in no tool's figures
    sink->on_phase({1, PhaseStep::started, at_ms(90)});
    for (std::uint32_t i = 0; i < 20; ++i) {
      HandMadeQuery q = steady_query(1, i, 100 + i * 10, 20 + i, 3, 5);
      if (i == 19) q.outcome = Outcome::reset;
      tell(q, *sink);
    }
  }
  const Point point = point_fold.finish({RunState::complete, ""});
  const std::vector<DefinedPoint> defined = fold.finish();
  const DefinedPoint& ours = defined[0];
  EXPECT_EQ(ours.succeeded, 19U);
  EXPECT_EQ(ours.failed, 1U);
  for (std::size_t i = 0; i < kDefinitionPercentiles.size(); ++i) {
    const double p = kDefinitionPercentiles[i];
    EXPECT_EQ(ours.ttft.percentiles[i], point.arrival.ttft.percentile(p));
    EXPECT_NEAR(ours.tpot.percentiles[i], point.arrival.tpot.percentile(p), 1e-6);
    EXPECT_EQ(ours.itl.percentiles[i], point.arrival.itl.percentile(p));
    EXPECT_EQ(ours.latency.percentiles[i], point.arrival.latency.percentile(p));
  }
  EXPECT_EQ(token_basis_text(ours), "usage");
  EXPECT_NEAR(ours.qps, point.rates.qps, 1e-9);
  EXPECT_NEAR(ours.tps, point.rates.tps.value_or(0), 1e-9);
  // The phase began at 90 ms. The last query failed: sent at 290, it ended at 290 + 39 + 12.
  EXPECT_EQ(ours.window, 341_ms - 90_ms);
  EXPECT_EQ(defined[5].window, 341_ms - 100_ms) << defined[5].definition->name;  // guidellm
  EXPECT_EQ(defined[4].window, 330_ms - 100_ms) << defined[4].definition->name;  // aiperf
  EXPECT_EQ(defined[8].window, Duration{}) << defined[8].definition->name;       // otel
  for (const DefinedPoint& one : defined) {
    EXPECT_FALSE(one.loadgen_window) << "this run is not a Poisson one: " << one.definition->name;
  }
}

TEST(Definitions, of_a_poisson_run_the_reference_client_takes_loadgens_window) {
  for (const char* wanted : {"true", "false"}) {
    RunInfo info;
    info.phases = {{PhaseKind::performance, "performance", true}};
    info.facts = Json::parse(format(R"({{"run_config": {{"load_pattern": {{"type": "poisson",
                                    "use_legacy_loadgen_qps_metrics": {}}}}}}})",
                                    wanted))
                     .value();
    DefinitionFold fold(info, {&kAssayDefinition, &kEndpointsDefinition});
    PointFold point_fold(info);
    for (EventSink* sink : {static_cast<EventSink*>(&fold), static_cast<EventSink*>(&point_fold)}) {
      sink->on_phase({0, PhaseStep::started, at_ms(0)});
      tell(steady_query(0, 0, 10, 20, 30, 30), *sink);  // the longest: ends last, was sent first
      for (std::uint32_t i = 1; i < 10; ++i) tell(steady_query(0, i, 10 + i * 10, 20, 3, 5), *sink);
    }
    const Point point = point_fold.finish({RunState::complete, ""});
    const HeadlineRates report = headline_rates(point);
    const std::vector<DefinedPoint> defined = fold.finish();
    EXPECT_EQ(defined[1].loadgen_window, report.legacy_window.has_value());
    EXPECT_EQ(defined[1].loadgen_window, std::string_view(wanted) == "true");
    EXPECT_NEAR(defined[1].qps, report.qps.value_or(0), 1e-9);
    EXPECT_NEAR(defined[1].tps, report.tps.value_or(0), 1e-9);
    EXPECT_FALSE(defined[0].loadgen_window);
    EXPECT_NEAR(defined[0].tps, point.rates.tps.value_or(0), 1e-9);
  }
}

TEST(Definitions, loadgens_window_takes_two_successes) {
  for (const std::uint32_t successes : {1U, 2U}) {
    RunInfo info;
    info.phases = {{PhaseKind::performance, "performance", true}};
    info.facts = *Json::parse(R"({"run_config": {"load_pattern": {"type": "poisson"}}})");
    DefinitionFold fold(info, {&kEndpointsDefinition});
    fold.on_phase({0, PhaseStep::started, at_ms(0)});
    for (std::uint32_t i = 0; i < successes; ++i) {
      tell(steady_query(0, i, 10 + i * 10, 20, 3, 5), fold);
    }
    EXPECT_EQ(fold.finish()[0].loadgen_window, successes == 2) << successes;
  }
}

TEST(Definitions, a_reply_that_is_counted_as_no_tokens_has_a_count) {
  HandMadeQuery q = rich_query();
  q.events = {q.events.front(), {at_ms(70), "", Category::finish}};
  q.usage.completion_tokens = 0;
  EXPECT_EQ(figures("assay", q).tokens, 0);
}

DefinedPoint defined_point() {
  DefinedPoint point{.definition = &kVllmDefinition};
  point.succeeded = 4;
  point.failed = 1;
  point.window = 2_s;
  point.qps = 2;
  point.tps = 20;
  point.tokens_known = true;
  point.ttft.count = 4;
  point.ttft.exact = true;
  point.ttft.mean = 1.5;
  point.replies_by_basis = {0, 3, 1, 0};
  return point;
}

TEST(Definitions, each_success_has_the_basis_of_its_tokens) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  DefinitionFold fold(info, {&kVllmDefinition});
  fold.on_phase({0, PhaseStep::started, at_ms(0)});
  for (std::uint32_t i = 0; i < 3; ++i) {
    HandMadeQuery q = steady_query(0, i, 10, 20, 10, 5);
    if (i == 2) q.outcome = Outcome::reset;
    tell(q, fold);
  }
  const auto points = fold.finish();
  ASSERT_EQ(points.size(), 1U);
  EXPECT_EQ(points[0].replies_by_basis[static_cast<std::size_t>(TokenBasis::usage)], 2U);
  EXPECT_EQ(points[0].succeeded, 2U);
  EXPECT_EQ(points[0].failed, 1U);
  EXPECT_EQ(points[0].output_tokens, 10);
}

TEST(Definitions, every_percentile_of_one_reply_is_its_own_figure) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  DefinitionFold fold(info, {&kVllmDefinition, &kAssayDefinition});
  fold.on_phase({0, PhaseStep::started, at_ms(0)});
  tell(steady_query(0, 0, 10, 20, 10, 5), fold);
  for (const DefinedPoint& point : fold.finish()) {
    for (const double ttft : point.ttft.percentiles) EXPECT_EQ(ttft, point.ttft.mean);
  }
}

TEST(Definitions, any_window_gives_a_rate) {
  RunInfo info;
  info.phases.push_back({PhaseKind::performance, "performance", false});
  DefinitionFold fold(info, {&kAssayDefinition});
  fold.on_phase({0, PhaseStep::started, at_ms(0)});
  HandMadeQuery q = steady_query(0, 0, 0, 0, 0, 1);
  q.done = at_ms(0) + 1_ns;
  tell(q, fold);
  const auto points = fold.finish();
  EXPECT_EQ(points[0].window, 1_ns);
  EXPECT_DOUBLE_EQ(points[0].qps, 1e9);
  EXPECT_TRUE(fold.finish().empty()) << "all is told once";
}

TEST(Definitions, a_point_in_json_has_its_rules_and_what_is_known) {
  DefinedPoint point = defined_point();
  Json json = definitions_json({point})["vllm"];
  EXPECT_EQ(json["title"].as_string(), kVllmDefinition.title);
  EXPECT_EQ(json["source"].as_string(), kVllmDefinition.source);
  EXPECT_EQ(json["rules"]["ttft"].as_string(), kVllmDefinition.ttft);
  EXPECT_EQ(json["rules"]["tpot"].as_string(), kVllmDefinition.tpot);
  EXPECT_EQ(json["rules"]["itl"].as_string(), kVllmDefinition.itl);
  EXPECT_EQ(json["rules"]["latency"].as_string(), kVllmDefinition.latency);
  EXPECT_EQ(json["rules"]["failures"].as_string(), kVllmDefinition.failures);
  EXPECT_EQ(json["rules"]["percentiles"].as_string(), to_string(kVllmDefinition.percentiles));
  EXPECT_EQ(json["rules"]["window"].as_string(), to_string(kVllmDefinition.window));
  EXPECT_EQ(json["succeeded"].as_int(), 4);
  EXPECT_EQ(json["failed"].as_int(), 1);
  EXPECT_EQ(json["tokens"]["replies"].dump(),
            R"({"none":0,"usage":3,"tokenizer":1,"fragments":0})");
  EXPECT_EQ(json["ttft_ns"]["count"].as_int(), 4);
  EXPECT_EQ(json["ttft_ns"]["avg"].as_double(), 1.5);
  EXPECT_EQ(json["ttft_ns"]["percentiles"].size(), kDefinitionPercentiles.size());
  EXPECT_EQ(json["ttft_ns"].find("exact"), nullptr);
  EXPECT_TRUE(json["itl_ns"].is_null() && json["tpot_ns"].is_null());
  EXPECT_EQ(json["window_ns"].as_int(), 2'000'000'000);
  EXPECT_EQ(json["qps"].as_double(), 2);
  EXPECT_EQ(json["tps"].as_double(), 20);
  point.tokens_known = false;
  point.ttft.exact = false;
  point.loadgen_window = true;
  json = definitions_json({point})["vllm"];
  EXPECT_TRUE(json["tps"].is_null()) << "without a count of tokens";
  EXPECT_EQ(json["qps"].as_double(), 2);
  EXPECT_EQ(json["ttft_ns"]["exact"].as_bool(true), false);
  EXPECT_EQ(json["rules"]["window"].as_string(), "loadgen");
  point.window = 1_ns;
  EXPECT_EQ(definitions_json({point})["vllm"]["window_ns"].as_int(), 1);
  point.window = {};
  json = definitions_json({point})["vllm"];
  EXPECT_TRUE(json["window_ns"].is_null() && json["qps"].is_null() && json["tps"].is_null());
}

TEST(Definitions, the_basis_of_most_replies_comes_first) {
  DefinedPoint point = defined_point();
  EXPECT_EQ(token_basis_text(point), "usage (1 by tokenizer)");
  point.replies_by_basis = {2, 0, 5, 1};
  EXPECT_EQ(token_basis_text(point), "tokenizer (2 by none) (1 by fragments)");
  point.replies_by_basis = {0, 0, 5, 0};
  EXPECT_EQ(token_basis_text(point), "tokenizer");
}

TEST(Definitions, each_has_its_name_and_no_other_is_found) {
  for (const Definition* definition : definitions()) {
    EXPECT_EQ(find_definition(definition->name), definition);
  }
  EXPECT_EQ(definitions().front(), &kAssayDefinition);
  EXPECT_EQ(find_definition("wrk"), nullptr);
  EXPECT_EQ(to_string(WindowRule::successes), "successes");
  EXPECT_EQ(to_string(WindowRule::none), "none");
  EXPECT_EQ(to_string(TokenRule::tokenizer), "tokenizer");
}

// What a reply's own figures are, beside its times: when it began and ended, and what was counted.
TEST(Definitions, each_tools_request_has_a_begin_and_an_end) {
  struct Span {
    std::string_view name{};
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  const std::vector<Span> all{
      {"assay", 10, 100},         {"endpoints", 10, 100}, {"vllm", 8, 70},
      {"sglang", 8, 100},         {"aiperf", 8, 60},      {"guidellm", 8, 100},
      {"inference-perf", 8, 100}, {"genai-perf", 8, 60},  {"otel", 8, 100}};
  ASSERT_EQ(all.size(), definitions().size());
  for (const Span& one : all) {
    const Figures f = figures(one.name, rich_query());
    EXPECT_EQ(f.start, at_ms(one.start)) << one.name;
    EXPECT_EQ(f.end, at_ms(one.end)) << one.name;
  }
}

TEST(Definitions, events_that_are_wanted_have_a_first_a_last_a_count_and_gaps) {
  const HandMadeQuery q = rich_query();
  const Event event = event_of(q);
  std::vector<StreamEvent> events;
  for (const HandMadeFragment& e : q.events) {
    events.emplace_back().category = e.category;
    events.back().arrival = e.arrival;
  }
  const Reply reply{event, events};
  EXPECT_EQ(first_of(reply, is_text), at_ms(40));
  EXPECT_EQ(last_of(reply, is_text), at_ms(60));
  EXPECT_EQ(count_of(reply, is_text), 2U);
  EXPECT_EQ(first_of(reply, has_choices), at_ms(20));
  EXPECT_EQ(last_of(reply, has_choices), at_ms(70));
  EXPECT_EQ(count_of(reply, has_choices), 5U);
  EXPECT_EQ(last_of(reply, is_chunk), at_ms(72));
  EXPECT_EQ(count_of(reply, is_chunk), 6U);
  EXPECT_EQ(last_of(reply, is_line), at_ms(100));
  EXPECT_EQ(count_of(reply, is_line), 7U);
  std::vector<double> gaps;
  gaps_of(reply, is_chunk, gaps);
  EXPECT_THAT(gaps, testing::ElementsAre(10 * kMs, 10 * kMs, 20 * kMs, 10 * kMs, 2 * kMs));
  const Reply none{event, {}};
  EXPECT_EQ(first_of(none, is_line), Instant::none());
  EXPECT_EQ(last_of(none, is_line), Instant::none());
  EXPECT_EQ(count_of(none, is_line), 0U);
}

}  // namespace
}  // namespace assay::metrics
