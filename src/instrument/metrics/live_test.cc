#include "metrics/live.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

Plan live_plan() {
  Plan plan{};
  plan.phases.resize(2);
  plan.phases[0].kind = PhaseKind::warmup;
  plan.phases[0].name = "warmup";
  plan.phases[1].name = "performance";
  plan.phases[1].stop.queries_max = 500;
  plan.phases[1].stop.duration_max = 60_s;
  return plan;
}

LiveSnapshot snapshot_of(const Live& live, Instant now) {
  const Live* const lives[] = {&live};
  return live_snapshot(lives, now);
}

TEST(Live, nothing_is_shown_before_a_phase_begins) {
  const auto live = std::make_unique<Live>(live_plan());
  const LiveSnapshot shown = snapshot_of(*live, at_ms(5));
  EXPECT_EQ(shown.phase, "");
  EXPECT_EQ(shown.sent, 0u);
}

TEST(Live, a_phase_shows_its_plan_and_its_own_queries_only) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({0, PhaseStep::started, at_ms(0)});
  tell(steady_query(0, 0, 0, 20, 10, 5), *live);
  const HandMadeQuery straggler = steady_query(0, 1, 10, 2000, 10, 5);
  tell_sent(straggler, *live);
  live->on_phase({1, PhaseStep::started, at_ms(1000)});
  tell(steady_query(1, 0, 1000, 50, 10, 64), *live);
  tell_stream(straggler, *live);

  LiveSnapshot shown = snapshot_of(*live, at_ms(3000));
  EXPECT_EQ(shown.phase, "performance");
  EXPECT_EQ(shown.kind, PhaseKind::performance);
  EXPECT_EQ(shown.elapsed, 2_s);
  EXPECT_EQ(shown.queries_planned, 500u);
  EXPECT_EQ(shown.duration_max, 60_s);
  EXPECT_EQ(shown.sent, 1u);
  EXPECT_EQ(shown.completed, 1u);
  EXPECT_EQ(shown.in_flight, 1u) << "the straggler";
  EXPECT_EQ(shown.ttft.count, 1u);
  EXPECT_NEAR(shown.ttft.p50.ms(), 50, 0.5);
  EXPECT_NEAR(shown.tpot.p90.ms(), 10, 0.1);

  live->on_done(event_of(straggler), "");
  EXPECT_EQ(snapshot_of(*live, at_ms(3000)).in_flight, 0u);
  EXPECT_EQ(snapshot_of(*live, at_ms(3000)).completed, 1u);
}

TEST(Live, a_closed_loop_for_a_time_is_planned_by_time_and_not_by_its_limit_of_queries) {
  Plan plan = live_plan();
  StopRule& stop = plan.phases[1].stop;
  stop = {.queries_min = 1, .queries_max = std::numeric_limits<std::uint32_t>::max()};
  stop.duration_min = 8_s;
  const auto shown = [&plan] {
    const auto live = std::make_unique<Live>(plan);
    live->on_phase({1, PhaseStep::started, at_ms(0)});
    return snapshot_of(*live, at_ms(5000));
  };
  EXPECT_EQ(shown().queries_planned, std::nullopt);
  EXPECT_EQ(shown().duration_max, 8_s);
  stop.duration_max = 6_s;
  EXPECT_EQ(shown().duration_max, 6_s);
  // A schedule has a fixed number of queries, for any duration it was drawn for.
  plan.phases[1].open_loop = true;
  stop.queries_max = 500;
  EXPECT_EQ(shown().queries_planned, 500u);
  EXPECT_EQ(shown().duration_max, 6_s);
}

TEST(Live, ttft_is_known_as_soon_as_the_first_token_is_and_counted_once) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  const HandMadeQuery q = steady_query(1, 7, 0, 50, 10, 4);
  tell_sent(q, *live);
  tell_stream(q, *live);
  EXPECT_EQ(snapshot_of(*live, at_ms(100)).ttft.count, 1u);
  live->on_done(event_of(q), "");
  EXPECT_EQ(snapshot_of(*live, at_ms(100)).ttft.count, 1u);
}

TEST(Live, a_detail_that_fills_its_room_leaves_that_of_the_next_outcome_alone) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  const std::string full(192, 'x');
  std::uint32_t index = 0;
  for (const auto& [outcome, detail] :
       {std::pair{Outcome::tls_failed, std::string("short")},
        std::pair{Outcome::connect_failed, full}, std::pair{Outcome::reset, full + "more"}}) {
    HandMadeQuery q = steady_query(1, index++, 0, 50, 10, 4);
    q.outcome = outcome;
    q.detail = detail;
    tell(q, *live);
  }
  const LiveSnapshot shown = snapshot_of(*live, at_ms(200));
  ASSERT_EQ(shown.failures.size(), 3U);
  for (const LiveFailures& one : shown.failures) {
    EXPECT_EQ(one.last_detail, one.outcome == Outcome::tls_failed ? "short" : full);
  }
}

TEST(Live, queries_that_share_a_slot_are_each_counted_once) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  const HandMadeQuery first = steady_query(1, 3, 0, 50, 10, 4);
  const HandMadeQuery second = steady_query(1, 3 + (1u << 15), 1, 60, 10, 4);
  for (const auto* q : {&first, &second}) tell_sent(*q, *live);
  for (const auto* q : {&first, &second}) tell_stream(*q, *live);
  for (const auto* q : {&first, &second}) live->on_done(event_of(*q), "");
  const LiveSnapshot shown = snapshot_of(*live, at_ms(200));
  EXPECT_EQ(shown.ttft.count, 2u);
  EXPECT_EQ(shown.tpot.count, 2u);
}

TEST(Live, replies_that_are_not_streamed_have_no_ttft) {
  const auto live = std::make_unique<Live>(live_plan(), false);
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  HandMadeQuery q = steady_query(1, 0, 0, 50, 10, 1);
  q.streamed = false;
  q.usage.completion_tokens = 40;
  tell(q, *live);
  const LiveSnapshot shown = snapshot_of(*live, at_ms(1500));
  EXPECT_EQ(shown.ttft.count, 0u);
  EXPECT_EQ(shown.completed, 1u);
  ASSERT_EQ(shown.tokens.size(), 1u);
  EXPECT_EQ(shown.tokens[0], 40);
}

TEST(Live, failures_are_told_by_kind_with_the_last_reason) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  for (std::uint32_t i = 0; i < 5; ++i) {
    HandMadeQuery q = steady_query(1, i, 0, 50, 10, 2);
    q.outcome = i < 2 ? Outcome::http_error : Outcome::reset;
    q.detail = "reason " + std::to_string(i) + std::string(i == 4 ? 500 : 0, 'x');
    tell(q, *live);
  }
  const LiveSnapshot shown = snapshot_of(*live, at_ms(100));
  EXPECT_EQ(shown.failed, 5u);
  EXPECT_EQ(shown.completed, 0u);
  EXPECT_EQ(shown.in_flight, 0u);
  ASSERT_EQ(shown.failures.size(), 2u);
  EXPECT_EQ(shown.failures[0].outcome, Outcome::reset);
  EXPECT_EQ(shown.failures[0].count, 3u);
  EXPECT_EQ(shown.failures[0].last_detail.substr(0, 10), "reason 4xx");
  EXPECT_EQ(shown.failures[1].last_detail, "reason 1");
}

TEST(Live, rates_come_from_the_last_full_seconds) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  // 10 queries a second for 20 s; from second 15 on each is sent 2 s late.
  std::uint32_t index = 0;
  for (int ms = 0; ms < 20'000; ms += 100) {
    HandMadeQuery q = steady_query(1, index++, ms, 20, 10, 3);
    if (ms >= 15'000) q.sent = at_ms(ms + 2000);
    if (q.sent < at_ms(20'000)) tell(q, *live);
  }
  const LiveSnapshot shown = snapshot_of(*live, at_ms(20'000));
  EXPECT_NEAR(shown.achieved_qps, 8.0, 0.01);
  EXPECT_NEAR(shown.offered_qps, 8.0, 0.01) << "of what was sent so far";
  EXPECT_EQ(shown.tokens.size(), 20u);
  EXPECT_EQ(shown.tokens[3], 30);
  EXPECT_TRUE(shown.tokens_known);
  ASSERT_TRUE(shown.ttft_ms[3].has_value());
  EXPECT_NEAR(*shown.ttft_ms[3], 20, 2.6);
  EXPECT_FALSE(shown.ttft_ms[15].has_value()) << "nothing came in that second";
}

TEST(Live, a_query_is_offered_when_it_is_due_and_achieved_when_it_is_sent) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  std::uint32_t index = 0;
  for (const auto& [due, sent] : {std::pair{100, 1100}, {900, 1200}, {1300, 1300}, {1900, 2100}}) {
    HandMadeQuery q = steady_query(1, index++, sent, 20, 10, 3);
    q.due = at_ms(due);
    tell(q, *live);
  }
  const LiveSnapshot first = snapshot_of(*live, at_ms(1000));
  EXPECT_DOUBLE_EQ(first.offered_qps, 2);
  EXPECT_DOUBLE_EQ(first.achieved_qps, 0);
  const LiveSnapshot two = snapshot_of(*live, at_ms(2000));
  EXPECT_DOUBLE_EQ(two.offered_qps, 2);
  EXPECT_DOUBLE_EQ(two.achieved_qps, 1.5);
  const LiveSnapshot three = snapshot_of(*live, at_ms(3999));
  EXPECT_DOUBLE_EQ(three.offered_qps, 4.0 / 3);
  EXPECT_DOUBLE_EQ(three.achieved_qps, 4.0 / 3);
}

TEST(Live, an_idle_hour_leaves_no_trace_of_old_seconds) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  for (std::uint32_t i = 0; i < 100; ++i) tell(steady_query(1, i, i * 30, 5, 1, 3), *live);
  tell(steady_query(1, 100, 3'600'000, 5, 1, 3), *live);
  const LiveSnapshot shown = snapshot_of(*live, at_ms(3'601'500));
  ASSERT_EQ(shown.tokens.size(), kLiveSeconds);
  double tokens = 0;
  for (const double t : shown.tokens) tokens += t;
  EXPECT_EQ(tokens, 3);
}

TEST(Live, shards_add_up) {
  const auto a = std::make_unique<Live>(live_plan());
  const auto b = std::make_unique<Live>(live_plan());
  for (Live* const live : {a.get(), b.get()}) live->on_phase({1, PhaseStep::started, at_ms(0)});
  tell(steady_query(1, 0, 0, 10, 1, 3), *a);
  tell(steady_query(1, 1, 0, 1000, 1, 3), *b);
  tell(steady_query(1, 3, 0, 1000, 1, 3), *b);
  const Live* const lives[] = {a.get(), b.get()};
  const LiveSnapshot shown = live_snapshot(lives, at_ms(2500));
  EXPECT_EQ(shown.completed, 3u);
  EXPECT_EQ(shown.queries_planned, 1000u);
  EXPECT_NEAR(shown.ttft.p50.ms(), 1000, 8);
  EXPECT_EQ(shown.ttft.count, 3u);
}

TEST(Live, tpot_is_of_one_choice_and_of_the_tokens_after_the_first) {
  const auto tpot = [](const auto& change) {
    const auto live = std::make_unique<Live>(live_plan());
    live->on_phase({1, PhaseStep::started, at_ms(0)});
    Event event = event_of(steady_query(1, 0, 0, 100, 10, 21));
    change(event);
    live->on_done(event, "");
    return snapshot_of(*live, at_ms(2000)).tpot;
  };
  EXPECT_NEAR(tpot([](Event&) {}).p50.ms(), 10, 0.1);
  EXPECT_NEAR(tpot([](Event& e) { e.usage.completion_tokens = 41; }).p50.ms(), 5, 0.05);
  EXPECT_NEAR(tpot([](Event& e) { e.usage = Usage{}; }).p50.ms(), 10, 0.1) << "by fragments";
  // 42 tokens in two choices: 20 after the first of each.
  EXPECT_NEAR(tpot([](Event& e) {
                e.usage.completion_tokens = 42;
                e.choices_asked = 2;
              }).p50.ms(),
              10, 0.1);
  EXPECT_EQ(tpot([](Event& e) { e.usage.completion_tokens = 1; }).count, 0U);
  EXPECT_EQ(tpot([](Event& e) { e.usage.completion_tokens = 2; }).count, 1U);
  EXPECT_EQ(tpot([](Event& e) { e.first_token = Instant::none(); }).count, 0U);
}

// Seconds are shown by the middle of a coarse bin: a quarter of an octave wide.
TEST(Live, each_second_has_the_median_of_its_own_ttft) {
  for (const std::int64_t ms : {1, 3, 7, 20, 90, 350, 990}) {
    const auto live = std::make_unique<Live>(live_plan());
    live->on_phase({1, PhaseStep::started, at_ms(0)});
    for (std::uint32_t i = 0; i < 3; ++i) {
      // The median is the middle one of three.
      tell(steady_query(1, i, 0, i == 0 ? 1 : i == 1 ? ms : 999, 0, 1), *live);
    }
    const LiveSnapshot shown = snapshot_of(*live, at_ms(1000));
    ASSERT_EQ(shown.ttft_ms.size(), 1U);
    ASSERT_TRUE(shown.ttft_ms[0]);
    EXPECT_NEAR(*shown.ttft_ms[0], static_cast<double>(ms), 0.125 * static_cast<double>(ms)) << ms;
    EXPECT_EQ(shown.completions[0], 3);
    EXPECT_FALSE(shown.tpot_ms[0]) << "of one token";
  }
}

TEST(Live, before_its_first_second_ends_a_rate_is_of_the_time_so_far) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  for (std::uint32_t i = 0; i < 4; ++i) tell(steady_query(1, i, 10 * i, 20, 10, 5), *live);
  const LiveSnapshot half = snapshot_of(*live, at_ms(500));
  EXPECT_DOUBLE_EQ(half.offered_qps, 8);
  EXPECT_DOUBLE_EQ(half.achieved_qps, 8);
  EXPECT_DOUBLE_EQ(half.completed_qps, 8);
  EXPECT_DOUBLE_EQ(half.output_tps, 40);
  EXPECT_TRUE(half.completions.empty());
  EXPECT_EQ(snapshot_of(*live, at_ms(0)).completed_qps, 0) << "no time, no rate";
  const LiveSnapshot whole = snapshot_of(*live, at_ms(1000));
  EXPECT_DOUBLE_EQ(whole.completed_qps, 4);
  EXPECT_EQ(whole.completions.size(), 1U);
  const LiveSnapshot later = snapshot_of(*live, at_ms(10'000));
  EXPECT_DOUBLE_EQ(later.completed_qps, 0.4);
  EXPECT_DOUBLE_EQ(snapshot_of(*live, at_ms(11'000)).completed_qps, 0) << "of ten seconds";
}

TEST(Live, lateness_is_of_every_query_and_failures_of_all_shards) {
  const auto one = std::make_unique<Live>(live_plan());
  const auto two = std::make_unique<Live>(live_plan());
  std::uint32_t index = 0;
  for (Live* const live : {one.get(), two.get()}) {
    live->on_phase({1, PhaseStep::started, at_ms(0)});
    HandMadeQuery late = steady_query(1, index, 10, 20, 10, 5);
    late.due = at_ms(live == one.get() ? 8 : 10);
    tell(late, *live);
    HandMadeQuery failed = steady_query(1, ++index, 30, 20, 10, 0);
    failed.outcome = live == one.get() ? Outcome::reset : Outcome::http_error;
    failed.done = at_ms(40);
    failed.detail = "words";
    tell(failed, *live);
    if (live == two.get()) {
      failed.query.index = ++index;
      tell(failed, *live);
    }
  }
  const Live* const lives[] = {one.get(), two.get()};
  const LiveSnapshot shown = live_snapshot(lives, at_ms(100));
  EXPECT_EQ(shown.lateness.count, 5U);
  EXPECT_NEAR(shown.lateness.p99.ms(), 2, 0.02);
  EXPECT_EQ(shown.failed, 3U);
  ASSERT_EQ(shown.failures.size(), 2U);
  EXPECT_EQ(shown.failures[0].outcome, Outcome::http_error) << "the most first";
  EXPECT_EQ(shown.failures[0].count, 2U);
  EXPECT_EQ(shown.failures[1].last_detail, "words");
  EXPECT_EQ(shown.queries_planned, 1000U);
}

TEST(Live, a_fragment_belongs_to_the_second_in_which_it_was_read) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  HandMadeQuery q = steady_query(1, 0, 900, 90, 0, 1);
  q.events[0].read_delay = 20_ms;
  tell(q, *live);
  const LiveSnapshot shown = snapshot_of(*live, at_ms(2000));
  ASSERT_EQ(shown.tokens.size(), 2U);
  EXPECT_EQ(shown.tokens[0], 0);
  EXPECT_EQ(shown.tokens[1], 1);
  ASSERT_EQ(shown.ttft_ms.size(), 2U);
  EXPECT_FALSE(shown.ttft_ms[0]);
  ASSERT_TRUE(shown.ttft_ms[1]);
  EXPECT_NEAR(*shown.ttft_ms[1], 90, 0.125 * 90) << "by the arrival";
}

TEST(Live, a_reader_never_sees_half_a_reason) {
  const auto live = std::make_unique<Live>(live_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  HandMadeQuery q = steady_query(1, 0, 0, 10, 1, 3);
  q.outcome = Outcome::reset;
  q.detail = std::string(150, 'a');
  live->on_done(event_of(q), q.detail);
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    const Live* const lives[] = {live.get()};
    while (!stop) {
      const LiveSnapshot shown = live_snapshot(lives, at_ms(100));
      const std::string& detail = shown.failures.at(0).last_detail;
      ASSERT_EQ(detail, std::string(detail.size(), detail[0]));
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    q.detail = std::string(static_cast<std::size_t>(20 + i % 150), static_cast<char>('a' + i % 26));
    live->on_done(event_of(q), q.detail);
  }
  stop = true;
  reader.join();
}

}  // namespace
}  // namespace assay::metrics
