// The fold at its edges: phases that nobody named, marks of several shards, queries that were heard
// of and never ended, rates of one value, the read clock, examples of failures, and what is warned
// of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

RunInfo edge_run(bool open_loop = false) {
  RunInfo info{};
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", open_loop},
                 {PhaseKind::accuracy, "gsm8k", false}};
  return info;
}

const RunEnd kDone{RunState::complete, {}};

Point folded(const std::vector<HandMadeQuery>& queries, RunInfo info = edge_run(),
             const RunEnd& end = kDone, std::uint64_t lost = 0) {
  PointFold fold(std::move(info));
  for (const HandMadeQuery& q : queries) tell(q, fold);
  return fold.finish(end, lost);
}

TEST(PointEdges, a_point_of_nothing_has_no_instants_and_no_rates) {
  const Point p = folded({});
  EXPECT_EQ(p.began, Instant::none());
  EXPECT_EQ(p.ended, Instant::none());
  EXPECT_EQ(p.rates.duration, Duration{});
  EXPECT_EQ(p.rates.qps, 0);
  EXPECT_FALSE(p.rates.tps || p.rates.tps_per_user || p.rates.legacy_window || p.rates.legacy_qps ||
               p.rates.legacy_tps || p.rates.offered_qps || p.rates.achieved_qps);
  EXPECT_FALSE(p.steady);
  ASSERT_EQ(p.phases.size(), 3U);
  for (const PhaseSpan& span : p.phases) {
    EXPECT_FALSE(span.started.known() || span.issue_ended.known() || span.drained.known());
  }
  EXPECT_EQ(p.phases[2].name, "gsm8k");
  EXPECT_EQ(p.phases[2].kind, PhaseKind::accuracy);
  EXPECT_EQ(p.stamps.events + p.stamps.kernel_stamped + p.stamps.shares_read, 0U);
}

TEST(PointEdges, a_phase_starts_with_its_first_shard_and_its_steps_end_with_the_last) {
  PointFold fold(edge_run());
  for (const std::int64_t ms : {20, 10, 30}) {
    fold.on_phase({1, PhaseStep::started, at_ms(ms)});
    fold.on_phase({1, PhaseStep::issue_ended, at_ms(100 + ms)});
    fold.on_phase({1, PhaseStep::drained, at_ms(200 + ms)});
  }
  const Point p = fold.finish(kDone);
  EXPECT_EQ(p.phases[1].started, at_ms(10));
  EXPECT_EQ(p.phases[1].issue_ended, at_ms(130));
  EXPECT_EQ(p.phases[1].drained, at_ms(230));
  EXPECT_FALSE(p.phases[0].started.known());
  EXPECT_EQ(p.began, at_ms(10));
  EXPECT_EQ(p.ended, at_ms(230));
  EXPECT_EQ(p.timeline.origin, at_ms(20)) << "the first that was heard";
}

TEST(PointEdges, a_phase_that_the_header_does_not_name_is_measured_under_its_number) {
  PointFold fold(edge_run());
  tell(steady_query(4, 0, 10, 50, 10, 3), fold);
  const Point p = fold.finish(kDone);
  ASSERT_EQ(p.phases.size(), 5U);
  EXPECT_EQ(p.phases[3].name, "phase 3");
  EXPECT_EQ(p.phases[4].name, "phase 4");
  EXPECT_EQ(p.phases[4].kind, PhaseKind::performance);
  EXPECT_EQ(p.counts.completed, 1U);
}

TEST(PointEdges, every_instant_that_was_heard_is_within_the_run) {
  HandMadeQuery q = steady_query(1, 0, 100, 50, 10, 2);
  q.due = at_ms(90);
  q.events.back().read_delay = 400_ms;
  const Point p = folded({q});
  EXPECT_EQ(p.began, at_ms(100)) << "when it was sent";
  EXPECT_EQ(p.ended, at_ms(560)) << "when its last event was read";
  HandMadeQuery never = steady_query(1, 0, 0, 50, 10, 0);
  never.sent = never.done = Instant::none();
  never.due = at_ms(70);
  never.outcome = Outcome::cancelled;
  const Point none = folded({never});
  EXPECT_EQ(none.began, at_ms(70));
  EXPECT_EQ(none.ended, at_ms(70));
  EXPECT_EQ(none.counts.failed, 1U);
}

TEST(PointEdges, counts_are_of_each_phase_and_finish_reasons_of_what_succeeded) {
  HandMadeQuery length = steady_query(1, 1, 0, 5, 1, 2);
  length.finish = FinishReason::length;
  HandMadeQuery failed = steady_query(1, 2, 0, 5, 1, 2);
  failed.outcome = Outcome::reset;
  PointFold fold(edge_run());
  for (const HandMadeQuery& q : {steady_query(1, 0, 0, 5, 1, 2), length, failed}) tell(q, fold);
  tell(steady_query(0, 0, 0, 5, 1, 2), fold);
  tell_sent(steady_query(2, 0, 0, 5, 1, 2), fold);
  tell_sent(steady_query(1, 9, 0, 5, 1, 2), fold);
  const Point p = fold.finish(RunEnd{});
  EXPECT_EQ(p.counts.issued, 4U);
  EXPECT_EQ(p.counts.completed, 2U);
  EXPECT_EQ(p.counts.failed, 1U);
  EXPECT_EQ(p.counts.unfinished, 1U);
  const auto of = [](const Counts& counts, FinishReason reason) {
    return counts.finish[static_cast<std::size_t>(reason)];
  };
  EXPECT_EQ(of(p.counts, FinishReason::stop), 1U);
  EXPECT_EQ(of(p.counts, FinishReason::length), 1U);
  EXPECT_EQ(of(p.all_phases, FinishReason::stop), 2U);
  EXPECT_EQ(p.all_phases.issued, 6U);
  EXPECT_EQ(p.all_phases.unfinished, 2U);
  EXPECT_EQ(p.phases[2].counts.unfinished, 1U);
  EXPECT_EQ(p.phases[2].counts.issued, 1U);
}

TEST(PointEdges, the_duration_is_from_the_start_of_performance_to_its_last_end) {
  const auto duration = [](Duration started, bool marked) {
    PointFold fold(edge_run());
    if (marked) fold.on_phase({1, PhaseStep::started, Instant{} + started});
    HandMadeQuery q = steady_query(1, 0, 100, 50, 10, 2);
    q.due = at_ms(80);
    tell(q, fold);
    fold.on_phase({1, PhaseStep::drained, at_ms(900)});
    return fold.finish(kDone).rates.duration;
  };
  EXPECT_EQ(duration(40_ms, true), 120_ms);
  EXPECT_EQ(duration({}, false), 80_ms) << "without a mark from the first that was due";
  EXPECT_EQ(duration(500_ms, true), Duration{}) << "never less than nothing";
  // Of several such phases the sum; what lies between them is none.
  RunInfo two = edge_run();
  two.phases.push_back({PhaseKind::performance, "again", false});
  const Point p = folded({steady_query(1, 0, 0, 50, 10, 2), steady_query(3, 0, 1000, 50, 10, 2),
                          steady_query(0, 0, 5000, 50, 10, 2)},
                         two);
  EXPECT_EQ(p.rates.duration, 120_ms);
  EXPECT_DOUBLE_EQ(p.rates.qps, 2 / 0.12);
  EXPECT_DOUBLE_EQ(*p.rates.tps, 4 / 0.12);
}

TEST(PointEdges, a_rate_needs_two_at_two_instants) {
  const auto rates = [](std::vector<std::int64_t> sent_ms) {
    std::vector<HandMadeQuery> queries;
    for (std::uint32_t i = 0; i < sent_ms.size(); ++i) {
      queries.push_back(steady_query(1, i, sent_ms[i], 5, 1, 2));
      queries.back().due = at_ms(2 * sent_ms[i]);
    }
    return folded(queries).rates;
  };
  EXPECT_FALSE(rates({7}).offered_qps || rates({7}).achieved_qps);
  EXPECT_FALSE(rates({7, 7}).offered_qps || rates({7, 7}).achieved_qps);
  EXPECT_DOUBLE_EQ(*rates({0, 500}).offered_qps, 1);
  EXPECT_DOUBLE_EQ(*rates({0, 500}).achieved_qps, 2);
  EXPECT_DOUBLE_EQ(*rates({500, 0, 250}).achieved_qps, 4) << "in whichever order they are told";
}

TEST(PointEdges, the_legacy_window_needs_an_open_loop_of_performance_and_two_that_succeeded) {
  const auto window = [](RunInfo info, std::size_t count) {
    std::vector<HandMadeQuery> queries;
    for (std::uint32_t i = 0; i < count; ++i) {
      queries.push_back(steady_query(1, i, 100 + 1000 * i, 50, 10, 2));
    }
    return folded(queries, std::move(info)).rates;
  };
  EXPECT_FALSE(window(edge_run(true), 1).legacy_window);
  const Rates two = window(edge_run(true), 2);
  ASSERT_TRUE(two.legacy_window);
  EXPECT_EQ(*two.legacy_window, 1060_ms);
  EXPECT_DOUBLE_EQ(*two.legacy_qps, 1 / 1.06);
  EXPECT_DOUBLE_EQ(*two.legacy_tps, 4 / 1.06);
  RunInfo elsewhere = edge_run();
  elsewhere.phases[0].open_loop = elsewhere.phases[2].open_loop = true;
  EXPECT_FALSE(window(elsewhere, 2).legacy_window);
  // Of two that were sent at one instant the one that ended last.
  HandMadeQuery early = steady_query(1, 0, 100, 50, 10, 2);
  HandMadeQuery late = steady_query(1, 1, 100, 90, 10, 2);
  EXPECT_EQ(folded({late, early}, edge_run(true)).rates.legacy_window, 100_ms);
  EXPECT_EQ(folded({early, late}, edge_run(true)).rates.legacy_window, 100_ms);
  for (HandMadeQuery* const q : {&early, &late}) q->usage = Usage{};
  EXPECT_FALSE(folded({early, late}, edge_run(true)).rates.legacy_tps) << "nobody counted";
}

TEST(PointEdges, the_read_clock_adds_each_delay_where_it_was_measured) {
  HandMadeQuery q = steady_query(1, 0, 1000, 50, 10, 5);
  q.due = at_ms(990);
  q.events[0].category = Category::reasoning;
  q.events[0].read_delay = 1_ms;
  q.events[1].read_delay = 2_ms;
  q.events[2].read_delay = 4_ms;
  PointFold fold(edge_run());
  tell_sent(q, fold);
  tell_stream(q, fold);
  Event event = event_of(q);
  event.read_delay_done = 8_ms;
  fold.on_done(event, "");
  const Point p = fold.finish(kDone);
  EXPECT_EQ(p.read.ttft.median(), 51e6);
  EXPECT_EQ(p.read.ttft_due.median(), 61e6);
  EXPECT_EQ(p.read.ttft_visible.median(), 62e6) << "the first of text, and its own delay";
  EXPECT_EQ(p.arrival.ttft_visible.median(), 60e6);
  EXPECT_EQ(p.read.latency.median(), 98e6);
  EXPECT_EQ(p.read.latency_due.median(), 108e6);
  EXPECT_EQ(p.read.itl.min, 6e6);
  EXPECT_EQ(p.read.itl.max, 12e6);
  EXPECT_EQ(p.read.itl.total, 39e6);
  EXPECT_EQ(p.arrival.itl.min, 10e6);
  EXPECT_DOUBLE_EQ(p.read.tpot.median(), 47e6 / 4);
  EXPECT_DOUBLE_EQ(p.arrival.tpot.median(), 10e6);
  EXPECT_EQ(p.lateness.median(), 10e6);
  EXPECT_EQ(p.read_delay.count, 5U);
  EXPECT_EQ(p.read_delay.total, 7e6);
}

TEST(PointEdges, arrivals_without_a_kernel_stamp_have_no_read_delay) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 4);
  q.kernel_stamped = false;
  q.events[1].shares_read = q.events[2].shares_read = true;
  const Point p = folded({q});
  EXPECT_EQ(p.stamps.events, 4U);
  EXPECT_EQ(p.stamps.kernel_stamped, 0U);
  EXPECT_EQ(p.stamps.shares_read, 2U);
  EXPECT_TRUE(p.read_delay.empty());
}

TEST(PointEdges, several_choices_each_have_their_own_gaps_and_tpot) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 0, 0);
  for (int i = 0; i < 4; ++i) {
    q.events.push_back({at_ms(50 + 10 * i), "tok "});
    HandMadeFragment other{at_ms(55 + 20 * i), "tok "};
    other.choice = 1;
    q.events.push_back(other);
  }
  q.usage.completion_tokens = 8;
  q.done = at_ms(200);
  const Point p = folded({q});
  EXPECT_EQ(p.arrival.itl.count, 6U);
  EXPECT_EQ(p.arrival.itl.min, 10e6);
  EXPECT_EQ(p.arrival.itl.max, 20e6);
  EXPECT_EQ(p.arrival.itl.total, 90e6);
  EXPECT_EQ(p.arrival.tpot.count, 2U);
  EXPECT_EQ(p.arrival.tpot.min, 10e6);
  EXPECT_EQ(p.arrival.tpot.max, 20e6);
  EXPECT_EQ(p.read.tpot.max, 20e6);
  EXPECT_EQ(p.tokens.replies_of_several_choices, 1U);
}

TEST(PointEdges, examples_are_the_first_few_and_the_commonest_failure_comes_first) {
  std::vector<HandMadeQuery> queries;
  const auto fail = [&](Outcome outcome, int times) {
    for (int i = 0; i < times; ++i) {
      queries.push_back(steady_query(1, static_cast<std::uint32_t>(queries.size()), 0, 5, 1, 1));
      queries.back().outcome = outcome;
      queries.back().query.sample = 77;
      queries.back().detail = "d" + std::to_string(queries.size());
    }
  };
  fail(Outcome::timed_out, 2);
  fail(Outcome::reset, 3);
  fail(Outcome::truncated, 2);
  PointFold fold(edge_run(), {.examples_max = 2});
  for (const HandMadeQuery& q : queries) tell(q, fold);
  const Point p = fold.finish(kDone);
  ASSERT_EQ(p.failures.size(), 3U);
  EXPECT_EQ(p.failures[0].outcome, Outcome::reset);
  EXPECT_EQ(p.failures[0].count, 3U);
  EXPECT_EQ(p.failures[1].outcome, Outcome::truncated) << "of equals in their own order";
  EXPECT_EQ(p.failures[2].outcome, Outcome::timed_out);
  ASSERT_EQ(p.failures[0].examples.size(), 2U);
  const FailureExample& example = p.failures[0].examples[1];
  EXPECT_EQ(example.query, 3U);
  EXPECT_EQ(example.sample, 77U);
  EXPECT_EQ(example.http_status, 200);
  EXPECT_EQ(example.at, queries[3].done);
  EXPECT_EQ(example.detail, "d4");
}

TEST(PointEdges, connections_are_of_the_queries_that_opened_one) {
  PointFold fold(edge_run());
  for (const bool connected : {true, false, true}) {
    Event event = event_of(steady_query(1, connected ? 1U : 0U, 0, 5, 1, 2));
    event.connected = connected;
    event.connect_time = 3_ms;
    fold.on_done(event, "");
  }
  EXPECT_EQ(fold.finish(kDone).connect.count, 2U);
}

TEST(PointEdges, tokens_are_spread_over_the_timeline_as_their_fragments_came) {
  HandMadeQuery q = steady_query(1, 0, 0, 100, 50, 4);  // at 100, 150, 200 and 250 ms
  q.usage.completion_tokens = 12;
  HandMadeQuery whole = steady_query(1, 1, 0, 0, 0, 0);
  whole.streamed = false;
  whole.done = at_ms(300);
  whole.usage.completion_tokens = 7;
  HandMadeQuery failed = q;
  failed.query.index = 2;
  failed.outcome = Outcome::reset;
  HandMadeQuery warm = q;
  warm.query = {.index = 3, .phase = 0};
  const Point p = folded({q, whole, failed, warm});
  ASSERT_EQ(p.timeline.buckets.size(), 3U);
  EXPECT_DOUBLE_EQ(p.timeline.buckets[0].output_tokens, 2 * 3) << "warm-up too, no failure";
  EXPECT_DOUBLE_EQ(p.timeline.buckets[1].output_tokens, 2 * 6);
  EXPECT_DOUBLE_EQ(p.timeline.buckets[2].output_tokens, 2 * 3 + 7);
  EXPECT_EQ(p.timeline.buckets[0].fragments, 3U);
  EXPECT_EQ(p.timeline.buckets[0].sent, 4U);
  EXPECT_EQ(p.timeline.buckets[2].failed, 1U);
  EXPECT_EQ(p.timeline.buckets[2].completed, 3U);
}

TEST(PointEdges, what_is_counted_by_the_tokenizer_stands_for_usage) {
  TokenCounts counts;
  counts.set({.index = 0, .phase = 1}, {.input = 9, .output = 6, .after_first = 5});
  PointFold fold(edge_run(), {.counts = &counts});
  tell(steady_query(1, 0, 0, 50, 10, 5), fold);
  HandMadeQuery uncounted = steady_query(1, 1, 0, 50, 10, 5);
  uncounted.usage = Usage{};
  tell(uncounted, fold);
  const Point p = fold.finish(kDone);
  EXPECT_EQ(p.isl.max, 9);
  EXPECT_EQ(p.osl.max, 6);
  EXPECT_EQ(p.osl.count, 1U);
  EXPECT_DOUBLE_EQ(p.arrival.tpot.median(), 40e6 / 5);
  EXPECT_DOUBLE_EQ(p.fragment_tokens.median(), 6.0 / 5);
}

TEST(PointEdges, a_run_over_a_known_dataset_has_a_steady_state) {
  RunInfo info = edge_run();
  info.facts.set("steady_state", Json().set("super_pass", 50).set("window_min_s", 2.5));
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < 400; ++i) {
    queries.push_back(steady_query(1, i, i * 10, 50, 10 + i % 3, 4));
  }
  std::ranges::reverse(queries);  // replies come in another order than queries went
  const Point p = folded(queries, info);
  ASSERT_TRUE(p.steady);
  EXPECT_EQ(p.steady->super_pass_size, 50U);
  EXPECT_EQ(p.steady->super_passes, 8U);
  EXPECT_EQ(p.steady->window_min, 2500_ms);
  EXPECT_TRUE(p.steady->official());
  EXPECT_EQ(p.steady->samples, 400U);
  EXPECT_EQ(p.steady->tpot.count, 400U);
  EXPECT_EQ(p.steady->tpot.min, 10e6);
  EXPECT_EQ(p.steady->span, 10_ms * 399);
  // A number far beyond all others is a damaged log's, and no reason to take all memory.
  queries.push_back(steady_query(1, 4'000'000'000, 5, 50, 10, 4));
  EXPECT_EQ(folded(queries, info).steady->super_passes, 8U);
  for (const double seconds : {-1.0, 1e30}) {
    info.facts.set("steady_state", Json().set("super_pass", 50).set("window_min_s", seconds));
    const Duration least = folded({}, info).steady->window_min;
    EXPECT_EQ(least, seconds < 0 ? Duration{} : 100'000'000_s);
  }
}

TEST(PointEdges, a_query_is_its_own_though_its_room_was_anothers) {
  PointFold fold(edge_run());
  for (std::uint32_t i = 0; i < 3; ++i) {
    HandMadeQuery q = steady_query(1, i, 100 * i, 50, 10 * (i + 1), 3);
    q.events[0].category = i == 0 ? Category::text : Category::reasoning;
    q.events[0].read_delay = i == 0 ? 5_ms : 0_ms;
    tell(q, fold);
  }
  const Point p = fold.finish(kDone);
  EXPECT_EQ(p.arrival.itl.count, 6U);
  EXPECT_EQ(p.arrival.itl.total, 120e6);
  EXPECT_EQ(p.read.ttft_visible.max, 80e6) << "without the delay of the first";
  // Not sent, in a room in which one was: it was never in flight.
  HandMadeQuery never = steady_query(1, 9, 500, 50, 10, 0);
  PointFold other(edge_run());
  tell(steady_query(1, 0, 0, 5, 1, 2), other);
  other.on_done(event_of(never), "");
  const Point q = other.finish(kDone);
  for (const TimeBucket& bucket : q.timeline.buckets) EXPECT_LE(bucket.in_flight, 1);
  EXPECT_NEAR(q.timeline.buckets[0].in_flight, 6.0 / 125, 1e-9);
}

// What is warned of, in its very words.

std::vector<std::string> warned(const Json& facts, const std::vector<HandMadeQuery>& queries = {}) {
  RunInfo info = edge_run();
  info.facts = facts;
  return folded(queries, info).warnings;
}

TEST(PointWarnings, of_how_the_run_ended) {
  const std::vector<HandMadeQuery> one = {steady_query(1, 0, 0, 50, 10, 8)};
  EXPECT_THAT(folded(one).warnings, IsEmpty());
  EXPECT_THAT(folded(one, edge_run(), {RunState::crashed, ""}).warnings,
              ElementsAre("the run was cut off: its event log has no end"));
  EXPECT_THAT(folded(one, edge_run(), {RunState::interrupted, ""}).warnings,
              ElementsAre("the run was interrupted"));
  EXPECT_THAT(folded(one, edge_run(), {RunState::interrupted, "by hand"}).warnings,
              ElementsAre("the run was interrupted: by hand"));
  EXPECT_THAT(folded(one, edge_run(), kDone, 1234).warnings,
              ElementsAre("1,234 records were lost because the disk could not keep up"));
  EXPECT_THAT(folded(one, edge_run(), {RunState::interrupted, "disk full", true}, 7).warnings,
              ElementsAre("disk full; 7 records are lost"));
  PointFold fold(edge_run());
  tell(one[0], fold);
  tell_sent(steady_query(1, 1, 0, 50, 10, 8), fold);
  tell_sent(steady_query(1, 2, 0, 50, 10, 8), fold);
  EXPECT_THAT(fold.finish({RunState::crashed, ""}).warnings,
              ElementsAre("the run was cut off: its event log has no end; 2 queries were in flight "
                          "at the log's end"));
}

TEST(PointWarnings, of_the_test_query_before_the_load) {
  const auto preflight = [](const char* json) {
    return Json().set("preflight", Json::parse(json).value());
  };
  EXPECT_THAT(warned(preflight(R"({"outcome": "ok"})")), IsEmpty());
  EXPECT_THAT(warned(preflight(R"({"outcome": "http_error"})")),
              ElementsAre("the test query before the load failed (http_error)"));
  EXPECT_THAT(warned(preflight(R"({"outcome": "reset", "detail": "why"})")),
              ElementsAre("the test query before the load failed (reset): why"));
  EXPECT_THAT(warned(preflight(R"({"outcome": "ok", "left_out": ["seed", "top_k"]})")),
              ElementsAre("the endpoint refuses seed, top_k: every request is without it"));
  EXPECT_THAT(warned(preflight(R"({"left_out": ["ignore_eos"]})")),
              ElementsAre("the endpoint refuses ignore_eos: every request is without it, so that "
                          "replies may end before the length that was asked for"));
}

TEST(PointWarnings, of_turns_that_are_no_part_of_the_measurement) {
  RunInfo info = edge_run();
  info.phases.push_back({PhaseKind::tail, "tail", false});
  const auto warnings = [&](int measured, int tail) {
    std::vector<HandMadeQuery> queries;
    for (int i = 0; i < measured; ++i) {
      queries.push_back(steady_query(1, static_cast<std::uint32_t>(i), 0, 5, 1, 2));
    }
    for (int i = 0; i < tail; ++i) {
      queries.push_back(steady_query(3, static_cast<std::uint32_t>(i), 0, 5, 1, 2));
    }
    return folded(queries, info).warnings;
  };
  EXPECT_THAT(warnings(3, 3), IsEmpty());
  EXPECT_THAT(warnings(3, 4), ElementsAre(HasSubstr("4 of 7 turns began after the first slot")));
}

TEST(PointWarnings, of_inputs_that_were_not_counted) {
  const auto warnings = [](const char* source) {
    TokenCounts counts;
    counts.source = Json::parse(source).value();
    PointFold fold(edge_run(), {.counts = &counts});
    return fold.finish(kDone).warnings;
  };
  EXPECT_THAT(warnings(R"({"inputs_refused_by_template": 0, "inputs_uncounted": 0})"), IsEmpty());
  EXPECT_THAT(
      warnings(R"({"inputs_refused_by_template": 1234, "trouble": "t"})"),
      ElementsAre("the chat template refused 1,234 prompts (t): their ISL is of the JSON of "
                  "their messages and tools"));
  EXPECT_THAT(warnings(R"({"inputs_uncounted": 1})"),
              ElementsAre("1 prompts could not be counted (no counts for them): ISL is of the "
                          "others"));
}

TEST(PointWarnings, of_fragments_that_are_no_single_tokens) {
  const auto warnings = [](int tokens) {
    HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 100);
    q.usage.completion_tokens = tokens;
    return folded({q}).warnings;
  };
  EXPECT_THAT(warnings(100), IsEmpty());
  EXPECT_THAT(warnings(102), IsEmpty());
  EXPECT_THAT(warnings(103), ElementsAre("fragments carry 1.03 tokens on average: ITL is the gap "
                                         "between bursts, and TPOT takes the first fragment for "
                                         "one token"));
  EXPECT_THAT(warnings(90), IsEmpty());
  EXPECT_THAT(warnings(89), ElementsAre(HasSubstr("fragments carry 0.890 tokens on average, less "
                                                  "than one each")));
}

TEST(PointWarnings, of_gathered_streams_only_where_something_could_gather_them) {
  for (const bool simulated : {false, true}) {
    RunInfo info = edge_run();
    info.simulated = simulated;
    const Point p = folded({steady_query(1, 0, 0, 50, 0, 9)}, info);
    EXPECT_EQ(p.warnings.empty(), simulated);
  }
}

}  // namespace
}  // namespace assay::metrics
