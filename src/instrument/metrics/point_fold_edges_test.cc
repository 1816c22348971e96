// The fold at its edges: phases without a name, marks of several shards, queries that never ended,
// rates of one value, the read clock, examples of failures.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "metrics/testing_folded.h"

namespace assay::metrics {
namespace {

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
  for (const std::int64_t ms : {20, 10, 30, 25}) {
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
  // Several such phases: their sum, without the time between them.
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
  // If two were sent at one instant, the one that ended last counts.
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
  std::ranges::reverse(queries);  // replies come in another order than the queries were sent
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
  std::ranges::reverse(queries);
  EXPECT_EQ(folded(queries, info).steady->tpot.total_whole, p.steady->tpot.total_whole);
  EXPECT_EQ(folded(queries, info).steady->samples, 400U);
  // A number far beyond all others comes from a damaged log, and must not take all memory.
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
  // Not sent, in a reused slot whose query was sent: it was never in flight.
  HandMadeQuery never = steady_query(1, 9, 500, 50, 10, 0);
  PointFold other(edge_run());
  tell(steady_query(1, 0, 0, 5, 1, 2), other);
  other.on_done(event_of(never), "");
  const Point q = other.finish(kDone);
  for (const TimeBucket& bucket : q.timeline.buckets) EXPECT_LE(bucket.in_flight, 1);
  EXPECT_NEAR(q.timeline.buckets[0].in_flight, 6.0 / 125, 1e-9);
}

TEST(PointEdges, a_query_whose_events_are_lost_has_no_delay_of_another) {
  PointFold fold(edge_run());
  HandMadeQuery late = steady_query(1, 0, 0, 50, 10, 3);
  late.events[0].read_delay = 5_ms;
  tell(late, fold);
  const HandMadeQuery lost = steady_query(1, 1, 100, 95, 10, 3);
  tell_sent(lost, fold);
  fold.on_done(event_of(lost), "");
  const Point p = fold.finish(kDone);
  EXPECT_EQ(p.read.ttft_visible.min, 55e6);
  EXPECT_EQ(p.read.ttft_visible.max, 95e6);
}

TEST(PointEdges, what_was_read_at_two_instants_is_of_two_reads_though_it_came_at_one) {
  RunInfo info = edge_run();
  info.uncertainty = true;
  // One stamp, two reads: the first fragment may have come 24 ms earlier; the two after it came
  // within 10 ms.
  HandMadeQuery q = steady_query(1, 0, 100, 70, 0, 3);
  q.events[0].uncertainty = 24_ms;
  for (const std::size_t k : {1U, 2U}) {
    q.events[k].read_delay = 1_ms;
    q.events[k].uncertainty = 10_ms;
  }
  const Point p = folded({q}, info);
  ASSERT_TRUE(p.arrival.itl.limits);
  EXPECT_EQ(p.arrival.itl.limits->max.high, 24e6);
  EXPECT_EQ(p.arrival.itl.limits->percentiles[7].high, 10e6) << "the lesser of the two gaps";
}

TEST(PointEdges, a_prompt_of_no_tokens_and_a_reply_of_none_are_counted_as_such) {
  HandMadeQuery q = steady_query(1, 0, 0, 5, 1, 0);
  q.usage = {.prompt_tokens = 0, .completion_tokens = 0};
  const Point p = folded({q});
  EXPECT_EQ(p.isl.count, 1U);
  EXPECT_EQ(p.osl.count, 1U);
  EXPECT_EQ(p.osl.max, 0);
  EXPECT_TRUE(p.fragment_tokens.empty());
}

TEST(PointEdges, numbers_are_taken_up_to_a_million_ahead_and_to_twice_as_many_as_were_heard) {
  constexpr std::uint32_t kAhead = 1U << 20;
  RunInfo info = edge_run();
  info.facts.set("steady_state", Json().set("super_pass", kAhead));
  const auto heard = [&](std::vector<std::uint32_t> numbers) {
    PointFold fold(info);
    for (const std::uint32_t number : numbers) {
      Event event{.query = {.index = number, .phase = 1}, .outcome = Outcome::reset};
      fold.on_done(event, "");
    }
    return fold.finish(kDone).steady->super_passes;
  };
  EXPECT_EQ(heard({kAhead}), 1U);
  EXPECT_EQ(heard({kAhead + 1}), 0U);
  EXPECT_EQ(heard({0, kAhead + 2}), 1U);
  EXPECT_EQ(heard({0, kAhead + 3}), 0U);
  EXPECT_EQ(heard({0, 1, 2, kAhead + 6}), 1U);
  EXPECT_EQ(heard({0, 1, 2, kAhead + 7}), 0U);
  EXPECT_EQ(heard({kAhead - 1}), 1U);
  EXPECT_EQ(heard({kAhead - 2}), 0U) << "one less than a whole pass";
}

TEST(PointEdges, the_legacy_window_is_of_the_sending_and_not_of_the_due_instants) {
  HandMadeQuery late = steady_query(1, 0, 300, 5, 5, 2);
  late.due = at_ms(100);
  HandMadeQuery early = steady_query(1, 1, 250, 5, 145, 2);
  early.due = at_ms(200);
  EXPECT_EQ(folded({late, early}, edge_run(true)).rates.legacy_window, 60_ms);
  EXPECT_EQ(folded({early, late}, edge_run(true)).rates.legacy_window, 60_ms);
  HandMadeQuery failed = steady_query(1, 2, 400, 5, 5, 2);
  failed.outcome = Outcome::reset;
  EXPECT_FALSE(folded({late, failed}, edge_run(true)).rates.legacy_window) << "one succeeded";
  // Two queries that took no time: a window of length zero has no rate.
  const HandMadeQuery at_once = steady_query(1, 0, 100, 0, 0, 1);
  EXPECT_FALSE(folded({at_once, at_once}, edge_run(true)).rates.legacy_window);
}

TEST(PointEdges, what_one_user_sees_is_of_a_tpot_that_is_known) {
  EXPECT_DOUBLE_EQ(*folded({steady_query(1, 0, 0, 5, 1, 9)}).rates.tps_per_user, 1000);
  EXPECT_FALSE(folded({steady_query(1, 0, 0, 5, 0, 9)}).rates.tps_per_user) << "all at once";
}

TEST(PointEdges, of_what_was_only_sent_the_run_lasted_as_long_as_it_was_sending) {
  PointFold fold(edge_run());
  for (const std::int64_t ms : {200, 100, 300, 250}) {
    tell_sent(steady_query(1, static_cast<std::uint32_t>(ms), ms, 5, 1, 2), fold);
  }
  EXPECT_EQ(fold.finish(RunEnd{}).rates.duration, 200_ms);
}

TEST(PointEdges, a_success_without_its_instants_has_tokens_and_no_latency) {
  HandMadeQuery endless = steady_query(1, 0, 0, 5, 1, 3);
  endless.done = Instant::none();
  HandMadeQuery unsent = steady_query(1, 1, 0, 5, 1, 3);
  unsent.sent = Instant::none();
  const Point p = folded({endless, unsent});
  EXPECT_EQ(p.counts.completed, 2U);
  EXPECT_EQ(p.osl.count, 2U);
  EXPECT_TRUE(p.arrival.latency.empty() && p.arrival.latency_due.empty());
  EXPECT_TRUE(p.arrival.ttft.empty() && p.arrival.itl.empty());
}

TEST(PointEdges, a_reply_of_nothing_but_reasoning_has_no_visible_token) {
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 4);
  for (HandMadeFragment& e : q.events) e.category = Category::reasoning;
  const Point p = folded({q});
  EXPECT_EQ(p.arrival.ttft.count, 1U);
  EXPECT_TRUE(p.arrival.ttft_visible.empty() && p.read.ttft_visible.empty());
  EXPECT_EQ(p.arrival.itl.count, 3U);
}

TEST(PointEdges, the_timeline_is_of_arrivals_and_its_first_tokens_of_any_kind) {
  HandMadeQuery q = steady_query(1, 0, 10, 100, 30, 3);  // at 110, 140 and 170 ms
  q.due = at_ms(5);
  q.events[0].category = Category::reasoning;
  for (HandMadeFragment& e : q.events) e.read_delay = 200_ms;
  PointFold fold(edge_run());
  fold.on_phase({1, PhaseStep::started, at_ms(0)});
  tell(q, fold);
  const Timeline t = fold.finish(kDone).timeline;
  ASSERT_EQ(t.buckets.size(), 2U);
  EXPECT_EQ(t.buckets[0].fragments, 1U);
  EXPECT_EQ(t.buckets[1].fragments, 2U);
  EXPECT_DOUBLE_EQ(t.buckets[0].output_tokens, 1);
  std::size_t bin = 0;
  while (Timeline::ttft_bin_low(bin + 1) <= 100e6) ++bin;
  EXPECT_EQ(t.ttft[bin], 1U) << "100 ms, in the cell of 110 ms";
}

TEST(PointEdges, fragments_that_are_told_out_of_their_order_are_spread_where_they_came) {
  HandMadeQuery q = steady_query(1, 0, 0, 100, 0, 3);
  q.events[1].arrival = at_ms(150);
  q.events[2].arrival = at_ms(110);
  q.done = at_ms(160);
  const HandMadeQuery later = steady_query(1, 1, 1000, 0, 0, 1);
  const Point p = folded({q, later});
  ASSERT_EQ(p.timeline.buckets.size(), 9U);
  EXPECT_DOUBLE_EQ(p.timeline.buckets[0].output_tokens, 2);
  EXPECT_DOUBLE_EQ(p.timeline.buckets[1].output_tokens, 1);
  EXPECT_DOUBLE_EQ(p.timeline.buckets[8].output_tokens, 1)
      << "a reply of one token, and none else's";
}

TEST(PointEdges, what_is_uncertain_of_one_reply_is_of_no_other) {
  RunInfo info = edge_run();
  info.uncertainty = true;
  HandMadeQuery vague = steady_query(1, 0, 0, 50, 0, 2);
  vague.events[0].uncertainty = 24_ms;
  const HandMadeQuery exact = steady_query(1, 1, 500, 50, 30, 2);
  for (const std::vector<HandMadeQuery>& queries :
       {std::vector{vague, exact}, std::vector{exact, vague}}) {
    const Point p = folded(queries, info);
    ASSERT_TRUE(p.arrival.itl.limits);
    EXPECT_EQ(p.arrival.itl.total, 30e6);
    EXPECT_EQ(p.arrival.itl.limits->mean.low, 15e6);
    EXPECT_EQ(p.arrival.itl.limits->mean.high, 27e6) << "24 ms in one of the two gaps";
  }
  // With several choices, the limits are those of the first one's gaps.
  HandMadeQuery choices = steady_query(1, 0, 0, 50, 10, 3);
  for (int i = 0; i < 3; ++i) {
    HandMadeFragment other{at_ms(55 + 10 * i), "tok "};
    other.choice = 1;
    other.uncertainty = 4_ms;
    choices.events.insert(choices.events.begin() + 2 * i + 1, other);
  }
  choices.usage.completion_tokens = 6;
  const Point p = folded({choices}, info);
  EXPECT_EQ(p.arrival.itl.limits->max.high, p.arrival.itl.max);
  EXPECT_EQ(p.arrival.itl.count, 4U);
}

TEST(PointEdges, two_fragments_are_enough_for_a_tpot_and_one_for_tokens_a_fragment) {
  const Point two = folded({steady_query(1, 0, 0, 50, 10, 2)});
  EXPECT_EQ(two.arrival.tpot.count, 1U);
  EXPECT_EQ(two.arrival.tpot.median(), 10e6);
  const Point one = folded({steady_query(1, 0, 0, 50, 10, 1)});
  EXPECT_TRUE(one.arrival.tpot.empty());
  EXPECT_EQ(one.fragment_tokens.count, 1U);
  EXPECT_EQ(one.fragment_tokens.median(), 1);
  // With several choices the same holds for each.
  HandMadeQuery choices = steady_query(1, 0, 0, 50, 10, 2);
  for (int i = 0; i < 2; ++i) {
    HandMadeFragment other{at_ms(55 + 20 * i), "tok "};
    other.choice = 1;
    choices.events.push_back(other);
  }
  choices.usage.completion_tokens = 4;
  const Point each = folded({choices});
  EXPECT_EQ(each.arrival.tpot.count, 2U);
  EXPECT_EQ(each.arrival.tpot.max, 20e6);
}

TEST(PointEdges, estimates_are_of_times_and_of_nothing_else) {
  for (const bool estimates : {true, false}) {
    PointFold fold(edge_run(), {.early_stopping = estimates});
    tell(steady_query(1, 0, 0, 50, 10, 3), fold);
    const Point p = fold.finish(kDone);
    for (const Latencies* const clock : {&p.arrival, &p.read}) {
      for (const Distribution* const series :
           {&clock->ttft, &clock->ttft_due, &clock->ttft_visible, &clock->tpot, &clock->latency,
            &clock->latency_due}) {
        EXPECT_EQ(series->estimated, estimates);
        EXPECT_EQ(series->count, 1U);
      }
      EXPECT_FALSE(clock->itl.estimated);
    }
    for (const Distribution* const series :
         {&p.isl, &p.osl, &p.lateness, &p.read_delay, &p.connect, &p.fragment_tokens}) {
      EXPECT_FALSE(series->estimated);
      EXPECT_FALSE(series->limits);
    }
  }
}

TEST(PointEdges, a_dataset_of_one_sample_has_a_pass_a_query) {
  RunInfo info = edge_run();
  info.facts.set("steady_state", Json().set("super_pass", 1));
  std::vector<HandMadeQuery> queries;
  for (std::uint32_t i = 0; i < 40; ++i) queries.push_back(steady_query(1, i, i * 10, 50, 10, 4));
  EXPECT_EQ(folded(queries, info).steady->super_passes, 40U);
}

TEST(PointEdges, an_example_names_its_endpoint) {
  PointFold fold(edge_run());
  Event event = event_of(steady_query(1, 0, 0, 5, 1, 0));
  event.outcome = Outcome::reset;
  event.endpoint = 3;
  fold.on_done(event, "");
  EXPECT_EQ(fold.finish(kDone).failures[0].examples[0].endpoint, 3U);
}

}  // namespace
}  // namespace assay::metrics
