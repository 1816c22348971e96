// What tools' definitions share, piece by piece: a request's begin, a time each token, a window.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "metrics/definitions/definition_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

TEST(DefinitionParts, a_request_that_was_never_sent_began_when_it_was_due) {
  Event event;
  event.due = at_ms(5);
  EXPECT_EQ(request_start(event), at_ms(5));
  event.connected = true;
  event.connect_time = 2_ms;
  EXPECT_EQ(request_start(event), at_ms(5));
  event.sent = at_ms(9);
  EXPECT_EQ(request_start(event), at_ms(7)) << "with its connection";
  event.connected = false;
  EXPECT_EQ(request_start(event), at_ms(9)) << "over one that was there";
}

// The log has an order: of two equal instants its later query is the last one.
TEST(DefinitionParts,
     of_two_that_were_sent_last_at_once_the_later_in_the_log_ends_loadgens_window) {
  const auto window = [](const std::vector<std::int64_t>& sent) {
    RunInfo info;
    info.phases = {{PhaseKind::performance, "performance", true}};
    info.facts = *Json::parse(R"({"run_config": {"load_pattern": {"type": "poisson"}}})");
    DefinitionFold fold(info, {&kEndpointsDefinition});
    fold.on_phase({0, PhaseStep::started, at_ms(0)});
    for (std::size_t i = 0; i < sent.size(); ++i) {
      // Each takes 20 ms and 3 more of each before it.
      tell(steady_query(0, static_cast<std::uint32_t>(i), sent[i],
                        20 + 3 * static_cast<std::int64_t>(i), 0, 2),
           fold);
    }
    const DefinedPoint point = fold.finish()[0];
    EXPECT_TRUE(point.loadgen_window);
    return point.window;
  };
  EXPECT_EQ(window({10, 40, 40}), 26_ms + 30_ms);
  DefinitionFold failing(
      RunInfo{.phases = {{PhaseKind::performance, "performance", true}},
              .facts = *Json::parse(R"({"run_config": {"load_pattern": {"type": "poisson"}}})")},
      {&kEndpointsDefinition});
  for (const std::uint32_t i : {0U, 1U, 2U}) {
    HandMadeQuery q = steady_query(0, i, 10 + 30 * i, 20, 0, 2);
    if (i == 2) q.outcome = Outcome::http_error;
    tell(q, failing);
  }
  EXPECT_EQ(failing.finish()[0].window, 20_ms + 30_ms) << "a later one that failed ends nothing";
  EXPECT_EQ(window({10, 40, 39}), 23_ms + 30_ms);
  EXPECT_EQ(window({40, 10, 20}), 20_ms + 30_ms);
}

TEST(DefinitionParts, a_window_ends_with_the_reply_that_ended_last_whichever_was_told_last) {
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", false}};
  DefinitionFold fold(info, {&kAiperfDefinition, &kGuidellmDefinition});
  HandMadeQuery failed = steady_query(0, 2, 5, 10, 10, 2);
  failed.outcome = Outcome::reset;
  tell(failed, fold);
  tell(steady_query(0, 0, 20, 30, 10, 3), fold);  // from 20 to 70
  tell(steady_query(0, 1, 10, 10, 10, 2), fold);  // from 10 to 30
  const std::vector<DefinedPoint> points = fold.finish();
  EXPECT_EQ(points[0].window, 60_ms) << "of successes";
  EXPECT_EQ(points[1].window, 65_ms) << "of all requests";
}

RunInfo warm_run() {
  RunInfo info;
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", false}};
  return info;
}

TEST(DefinitionParts, a_run_without_a_window_has_no_rates) {
  DefinitionFold fold(warm_run(), {&kAssayDefinition, &kOtelDefinition});
  fold.on_phase({1, PhaseStep::started, at_ms(10)});
  HandMadeQuery q = steady_query(1, 0, 10, 0, 0, 1);
  tell(q, fold);
  for (const DefinedPoint& point : fold.finish()) {
    EXPECT_EQ(point.succeeded, 1U) << point.definition->name;
    EXPECT_EQ(point.window, Duration{}) << point.definition->name;
    EXPECT_EQ(point.qps, 0) << point.definition->name;
    EXPECT_EQ(point.tps, 0) << point.definition->name;
  }
}

TEST(DefinitionParts, a_time_each_token_takes_tokens_and_both_instants) {
  EXPECT_EQ(span(at_ms(1), at_ms(3)), 2 * 1e6);
  EXPECT_EQ(span(Instant::none(), at_ms(3)), std::nullopt);
  EXPECT_EQ(span(at_ms(1), Instant::none()), std::nullopt);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), 1), 2 * 1e6);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), 4), 0.5 * 1e6);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), 0), std::nullopt);
  EXPECT_EQ(per_token(at_ms(1), at_ms(3), std::nullopt), std::nullopt);
  EXPECT_EQ(per_token(Instant::none(), at_ms(3), 4), std::nullopt);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), 5), 0.5 * 1e6);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), 2), 2 * 1e6);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), 1), std::nullopt);
  EXPECT_EQ(per_later_token(at_ms(1), at_ms(3), std::nullopt), std::nullopt);
}

TEST(DefinitionParts, buckets_end_where_opentelemetrys_do) {
  const auto median = [](std::vector<double> values) {
    WeightedSeries series(100);
    for (const double value : values) series.add(value, 1);
    return series.finish(PercentileRule::buckets)
        .percentiles[static_cast<std::size_t>(std::ranges::find(kDefinitionPercentiles, 50.0) -
                                              kDefinitionPercentiles.begin())];
  };
  EXPECT_DOUBLE_EQ(median({1e7}), 5e6) << "the middle of the first bucket, up to its end";
  EXPECT_DOUBLE_EQ(median({1e7 + 1}), 1.5e7) << "of the second";
  EXPECT_DOUBLE_EQ(median({1e7, 1e7, 3e7, 3e7}), 1e7);
  EXPECT_DOUBLE_EQ(median({1e15}), 81.92e9) << "the last boundary: 10 ms doubled 13 times";
}

// A reply as the fold passes it on, with what was found out about its tokens.
Figures taken(std::int32_t usage, std::optional<std::int32_t> counted, TokenRule rule,
              TokenTruth truth = {}) {
  Event event;
  event.usage.completion_tokens = usage;
  const TokenCount count{.output = counted.value_or(-1)};
  Figures out;
  take_tokens({event, {}, {}, {}, counted ? &count : nullptr, &truth}, rule, out);
  return out;
}

TEST(DefinitionParts, a_tool_takes_the_count_of_its_rule_and_the_other_only_where_that_is_unknown) {
  struct Case {
    std::int32_t usage = -1;
    std::optional<std::int32_t> counted{};
    TokenRule rule = TokenRule::usage;
    std::optional<std::int64_t> tokens{};
    TokenBasis basis = TokenBasis::none;
  };
  constexpr TokenRule kUsage = TokenRule::usage;
  constexpr TokenRule kTokenizer = TokenRule::tokenizer;
  for (const Case& one : std::vector<Case>{
           {-1, std::nullopt, kUsage, std::nullopt, TokenBasis::none},
           {-1, std::nullopt, kTokenizer, std::nullopt, TokenBasis::none},
           {-1, -1, kTokenizer, std::nullopt, TokenBasis::none},
           {0, std::nullopt, kUsage, 0, TokenBasis::usage},
           {0, std::nullopt, kTokenizer, 0, TokenBasis::usage},
           {0, 5, kUsage, 0, TokenBasis::usage},
           {0, 5, kTokenizer, 5, TokenBasis::tokenizer},
           {7, 0, kUsage, 7, TokenBasis::usage},
           {7, 0, kTokenizer, 0, TokenBasis::tokenizer},
           {7, -1, kTokenizer, 7, TokenBasis::usage},
           {-1, 0, kUsage, 0, TokenBasis::tokenizer},
           {-1, 5, kUsage, 5, TokenBasis::tokenizer},
       }) {
    const Figures out = taken(one.usage, one.counted, one.rule);
    const std::string what = testing::PrintToString(one.usage) + " said, " +
                             testing::PrintToString(one.counted) + " counted, " +
                             std::string(to_string(one.rule));
    EXPECT_EQ(out.tokens, one.tokens) << what;
    EXPECT_EQ(out.basis, one.basis) << what;
  }
}

TEST(DefinitionParts,
     a_tokenizers_count_above_the_limit_is_replaced_by_the_servers_if_there_is_one) {
  TokenTruth above;
  above.tokenizer_above_limit = true;
  for (const std::int32_t usage : {0, 1, 7}) {
    EXPECT_EQ(taken(usage, 90, TokenRule::tokenizer, above).tokens, usage);
    EXPECT_EQ(taken(usage, 90, TokenRule::tokenizer, above).basis, TokenBasis::usage);
  }
  EXPECT_EQ(taken(-1, 90, TokenRule::tokenizer, above).tokens, 90);
}

TEST(DefinitionParts, a_contradicted_count_of_the_server_is_no_tools) {
  TokenTruth wrong;
  wrong.contradiction = Contradiction::above_limit;
  for (const TokenRule rule : {TokenRule::usage, TokenRule::tokenizer}) {
    EXPECT_EQ(taken(70, std::nullopt, rule, wrong).tokens, std::nullopt);
    EXPECT_EQ(taken(70, 6, rule, wrong).tokens, 6);
  }
  wrong.basis = TokenBasis::fragments;
  wrong.count.output = 3;
  const Figures out = taken(70, std::nullopt, TokenRule::usage, wrong);
  EXPECT_EQ(out.tokens, 3);
  EXPECT_EQ(out.basis, TokenBasis::fragments);
}

TEST(DefinitionParts, tokens_after_the_first_fragment_are_those_of_the_counts_basis) {
  const Event event;
  TokenTruth truth;
  TokenCount counted{.output = 9};
  const Reply reply{event, {}, {}, {}, &counted, &truth};
  Figures out;
  EXPECT_EQ(tokens_after_first(reply, out), std::nullopt) << "no tokens, none after the first";
  out.tokens = 9;
  for (const std::int32_t after : {-1, 0, 1, 6}) {
    const std::optional<std::int64_t> wanted =
        after < 0 ? std::nullopt : std::optional<std::int64_t>(after);
    truth.count.after_first = after;
    counted.after_first = 4;
    out.basis = TokenBasis::usage;
    EXPECT_EQ(tokens_after_first(reply, out), wanted) << after;
    truth.count.after_first = 4;
    counted.after_first = after;
    out.basis = TokenBasis::tokenizer;
    EXPECT_EQ(tokens_after_first(reply, out), wanted) << after;
  }
}

TEST(DefinitionParts, a_series_keeps_its_values_up_to_its_room_and_counts_from_the_next_on) {
  for (const std::size_t values : {3U, 4U}) {
    WeightedSeries series(3);
    for (std::size_t i = 0; i < values; ++i) series.add(5e6);
    const DefinedSeries out = series.finish(PercentileRule::lower);
    EXPECT_EQ(out.exact, values == 3);
    EXPECT_EQ(out.count, values);
    for (const double value : out.percentiles) EXPECT_NEAR(value, 5e6, 5e4) << values;
  }
  WeightedSeries roomless(0);
  for (const double value : {5e6, 5e6, 9e6}) roomless.add(value);
  EXPECT_NEAR(roomless.finish(PercentileRule::lower).percentiles[0], 5e6, 5e4) << "of all three";
  WeightedSeries below(1);
  for (const double value : {-7.0, -7.0, -7.0}) below.add(value);
  EXPECT_NEAR(below.finish(PercentileRule::lower).percentiles[0], 0, 1);
  WeightedSeries weightless(3);
  weightless.add(5, 0);
  EXPECT_EQ(weightless.finish(PercentileRule::lower).mean, 0);
}

TEST(DefinitionParts, between_the_last_boundary_and_its_double_a_value_is_the_last_boundary) {
  WeightedSeries series(3);
  series.add(100e9);
  for (const double value : series.finish(PercentileRule::buckets).percentiles) {
    EXPECT_DOUBLE_EQ(value, 81.92e9);
  }
}

TEST(DefinitionParts, a_reply_has_nothing_of_the_reply_before_it) {
  DefinitionFold fold(warm_run(), {&kOtelDefinition, &kGuidellmDefinition});
  tell(steady_query(1, 0, 10, 20, 10, 3), fold);
  HandMadeQuery whole = steady_query(1, 1, 50, 20, 10, 3);
  whole.streamed = false;
  whole.events.clear();
  whole.usage = {};
  tell(whole, fold);
  for (const DefinedPoint& point : fold.finish()) {
    const bool otel = point.definition == &kOtelDefinition;
    EXPECT_EQ(point.succeeded, 2U);
    EXPECT_EQ(point.latency.count, 2U);
    EXPECT_EQ(point.ttft.count, 1U);
    EXPECT_EQ(point.tpot.count, otel ? 0U : 1U);
    EXPECT_EQ(point.itl.count, otel ? 2U : 1U);
    EXPECT_EQ(point.output_tokens, 3);
    EXPECT_TRUE(point.tokens_known);
    EXPECT_EQ(point.replies_by_basis[static_cast<std::size_t>(TokenBasis::none)], 1U);
    EXPECT_EQ(point.replies_by_basis[static_cast<std::size_t>(TokenBasis::usage)], 1U);
  }
}

TEST(DefinitionParts, without_a_count_of_any_reply_the_tokens_are_unknown) {
  DefinitionFold fold(warm_run(), {&kOtelDefinition});
  HandMadeQuery q = steady_query(1, 0, 10, 20, 10, 3);
  q.usage = {};
  tell(q, fold);
  q = steady_query(1, 1, 10, 20, 10, 3);
  q.outcome = Outcome::reset;
  tell(q, fold);
  const DefinedPoint point = fold.finish()[0];
  EXPECT_FALSE(point.tokens_known) << "those of a failed reply do not count";
  EXPECT_EQ(point.output_tokens, 0);
}

TEST(DefinitionParts, a_window_that_ends_before_it_begins_or_where_it_begins_is_none) {
  DefinitionFold unsent(warm_run(), {&kAssayDefinition, &kEndpointsDefinition});
  HandMadeQuery q = steady_query(1, 0, 10, 0, 0, 0);
  q.sent = Instant::none();
  q.done = at_ms(12);
  q.outcome = Outcome::connect_failed;
  tell(q, unsent);
  for (const DefinedPoint& point : unsent.finish()) {
    EXPECT_EQ(point.window, Duration{}) << "nothing was sent";
    EXPECT_EQ(point.failed, 1U);
    EXPECT_EQ(point.latency.count, 0U);
  }
  RunInfo info;
  info.phases = {{PhaseKind::performance, "performance", true}};
  info.facts = *Json::parse(R"({"run_config": {"load_pattern": {"type": "poisson"}}})");
  for (const std::int64_t took : {0, 1}) {
    DefinitionFold fold(info, {&kEndpointsDefinition});
    for (const std::uint32_t i : {0U, 1U}) tell(steady_query(0, i, 10, took, 0, 1), fold);
    const DefinedPoint point = fold.finish()[0];
    EXPECT_EQ(point.loadgen_window, took == 1) << "two that end as they are sent span no time";
    EXPECT_EQ(point.window, took == 1 ? 1_ms : 0_ms);
    EXPECT_DOUBLE_EQ(point.qps, took == 1 ? 1000 : 0);
  }
}

// The figures of a tool for a reply that is made by hand.
Figures figures_of(const Definition& definition, const HandMadeQuery& q,
                   const TokenTruth* truth = nullptr) {
  const Event event = event_of(q);
  std::vector<StreamEvent> events;
  ReplyEvidence evidence;
  for (const HandMadeFragment& e : q.events) {
    StreamEvent& one = events.emplace_back();
    one.category = e.category;
    one.choice = e.choice;
    one.arrival = e.arrival;
    evidence.add(one);
  }
  TokenTruth found;
  reconcile(event, evidence, nullptr, found);
  Figures out;
  definition.measure({event, events, {}, {}, nullptr, truth == nullptr ? &found : truth}, out);
  return out;
}

TEST(DefinitionParts, to_aiperf_a_stream_without_content_ends_with_its_last_line) {
  HandMadeQuery q = steady_query(0, 0, 10, 20, 10, 0);
  q.events = {{at_ms(20), "", Category::role}, {at_ms(33), "", Category::marker}};
  q.done = at_ms(40);
  EXPECT_EQ(figures_of(kAiperfDefinition, q).end, at_ms(33));
  EXPECT_EQ(figures_of(kAiperfDefinition, q).latency, 23e6);
  EXPECT_EQ(figures_of(kAiperfDefinition, q).ttft, std::nullopt);
  q.streamed = false;
  EXPECT_EQ(figures_of(kAiperfDefinition, q).end, at_ms(40));
  EXPECT_EQ(figures_of(kAiperfDefinition, q).latency, 30e6);
}

TEST(DefinitionParts, to_the_reference_client_a_tool_call_is_a_chunk_only_before_all_others) {
  HandMadeQuery q = steady_query(0, 0, 0, 10, 10, 4);
  q.events[0].category = q.events[2].category = Category::tool_call;
  Figures out = figures_of(kEndpointsDefinition, q);
  EXPECT_EQ(out.ttft, 10e6);
  EXPECT_EQ(out.itl, (std::vector<double>{10e6, 20e6}));
  std::swap(q.events[0].category, q.events[1].category);
  q.events[2].category = Category::reasoning;
  q.events[3].category = Category::role;
  out = figures_of(kEndpointsDefinition, q);
  EXPECT_EQ(out.ttft, 10e6);
  EXPECT_EQ(out.itl, std::vector<double>{20e6});
}

TEST(DefinitionParts, to_the_reference_client_a_query_that_was_never_sent_is_not_measured) {
  HandMadeQuery q = steady_query(0, 0, 0, 10, 10, 2);
  EXPECT_TRUE(figures_of(kEndpointsDefinition, q).measured);
  q.outcome = Outcome::reset;
  EXPECT_TRUE(figures_of(kEndpointsDefinition, q).measured);
  q.sent = Instant::none();
  EXPECT_FALSE(figures_of(kEndpointsDefinition, q).measured);
}

TEST(DefinitionParts, of_guidellms_reply_of_one_token_the_whole_time_is_that_tokens) {
  const auto of = [](std::int32_t tokens) {
    HandMadeQuery q = steady_query(0, 0, 10, 20, 10, 2);
    q.usage.completion_tokens = tokens;
    return figures_of(kGuidellmDefinition, q);
  };
  EXPECT_EQ(of(0).tpot, std::nullopt);
  EXPECT_EQ(of(0).tpot_weight, 1);
  EXPECT_EQ(of(1).tpot, 30e6);
  EXPECT_EQ(of(1).tpot_weight, 1);
  EXPECT_EQ(of(1).itl_weight, 0);
  EXPECT_EQ(of(2).tpot, 15e6);
  EXPECT_EQ(of(2).tpot_weight, 2);
  EXPECT_EQ(of(2).itl_weight, 1);
  HandMadeQuery endless = steady_query(0, 0, 10, 20, 10, 0);
  endless.usage.completion_tokens = 5;
  endless.done = Instant::none();
  EXPECT_EQ(figures_of(kGuidellmDefinition, endless).tpot, std::nullopt);
  endless.done = at_ms(35);
  EXPECT_EQ(figures_of(kGuidellmDefinition, endless).tpot, 5e6) << "up to its end";
}

TEST(DefinitionParts, to_inference_perf_the_tokens_inside_a_chunk_follow_one_another_at_once) {
  const auto gaps = [](int chunks, std::int32_t tokens) {
    HandMadeQuery q = steady_query(0, 0, 10, 20, 10, chunks);
    q.usage.completion_tokens = tokens;
    const TokenTruth believed;
    return figures_of(kInferencePerfDefinition, q, &believed).itl;
  };
  EXPECT_EQ(gaps(0, 5), std::vector<double>{});
  EXPECT_EQ(gaps(1, 1), std::vector<double>{});
  EXPECT_EQ(gaps(1, 3), (std::vector<double>{0, 0}));
  EXPECT_EQ(gaps(2, 3), (std::vector<double>{10e6, 0}));
  EXPECT_EQ(gaps(3, 2), (std::vector<double>{10e6, 10e6}));
  EXPECT_EQ(gaps(2, -1), std::vector<double>{10e6});
  EXPECT_EQ(gaps(1, 10'000'000).size(), 9'999'999U);
  EXPECT_EQ(gaps(1, 10'000'001).size(), 0U) << "it is not believed";
}

TEST(DefinitionParts, in_our_figures_a_choices_time_is_shared_among_its_later_tokens) {
  HandMadeQuery q = steady_query(0, 0, 0, 10, 6, 7);
  // 0 1 0 1 0 1 1: the one spans 24 ms and 2 later tokens, the other 30 ms and 3.
  for (const std::size_t i : {1U, 3U, 5U, 6U}) q.events[i].choice = 1;
  const Figures out = figures_of(kAssayDefinition, q);
  EXPECT_EQ(out.tpot, 12e6);
  EXPECT_EQ(out.more_tpot, std::vector<double>{10e6});
  EXPECT_EQ(out.itl, (std::vector<double>{12e6, 12e6, 12e6, 12e6, 6e6}));
  const Figures one = figures_of(kAssayDefinition, steady_query(0, 0, 0, 10, 6, 1));
  EXPECT_EQ(one.tpot, std::nullopt);
  EXPECT_EQ(figures_of(kAssayDefinition, steady_query(0, 0, 0, 10, 6, 2)).tpot, 6e6);
}

}  // namespace
}  // namespace assay::metrics
