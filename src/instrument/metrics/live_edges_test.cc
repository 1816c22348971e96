// What the live figures show at the edges: of a phase, of a second, of a bin, and of several
// shards.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "metrics/live.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {
namespace {

Plan edge_plan() {
  Plan plan{};
  plan.phases.resize(2);
  plan.phases[0].kind = PhaseKind::warmup;
  plan.phases[0].name = "warmup";
  plan.phases[1].name = "performance";
  plan.phases[1].open_loop = true;
  return plan;
}

LiveSnapshot shown_at(const Live& live, std::int64_t ms) {
  const Live* const lives[] = {&live};
  return live_snapshot(lives, at_ms(ms));
}

// In the performance phase, which began at 0.
std::unique_ptr<Live> begun() {
  auto live = std::make_unique<Live>(edge_plan());
  live->on_phase({1, PhaseStep::started, at_ms(0)});
  return live;
}

TEST(LiveEdges, a_phase_shows_its_step_and_no_mark_of_an_earlier_phase_moves_it) {
  const auto live = begun();
  EXPECT_EQ(shown_at(*live, 5).step, PhaseStep::started);
  live->on_phase({0, PhaseStep::drained, at_ms(5)});
  EXPECT_EQ(shown_at(*live, 5).step, PhaseStep::started);
  live->on_phase({1, PhaseStep::issue_ended, at_ms(10)});
  EXPECT_EQ(shown_at(*live, 15).step, PhaseStep::issue_ended);
  EXPECT_EQ(shown_at(*live, 15).elapsed, 15_ms) << "since its start";
  live->on_phase({1, PhaseStep::drained, at_ms(20)});
  EXPECT_EQ(shown_at(*live, 25).step, PhaseStep::drained);
}

TEST(LiveEdges, of_shards_the_phase_of_the_first_is_shown_and_the_step_of_the_slowest) {
  std::vector<std::unique_ptr<Live>> shards;
  std::vector<const Live*> lives;
  for (int i = 0; i < 3; ++i) {
    lives.push_back(shards.emplace_back(std::make_unique<Live>(edge_plan())).get());
  }
  EXPECT_EQ(live_snapshot(lives, at_ms(0)).phase, "");
  shards[1]->on_phase({1, PhaseStep::started, at_ms(0)});
  shards[1]->on_phase({1, PhaseStep::issue_ended, at_ms(0)});
  shards[2]->on_phase({0, PhaseStep::started, at_ms(0)});
  tell(steady_query(1, 1, 0, 10, 1, 3), *shards[1]);
  tell(steady_query(0, 2, 0, 10, 1, 3), *shards[2]);
  tell_sent(steady_query(0, 5, 0, 10, 1, 3), *shards[2]);
  LiveSnapshot shown = live_snapshot(lives, at_ms(100));
  EXPECT_EQ(shown.phase, "performance") << "of the first that has one";
  EXPECT_EQ(shown.kind, PhaseKind::performance);
  EXPECT_TRUE(shown.open_loop);
  EXPECT_EQ(shown.completed, 1U);
  EXPECT_EQ(shown.in_flight, 1U) << "of every shard and phase";
  EXPECT_EQ(shown.step, PhaseStep::issue_ended);
  shards[0]->on_phase({1, PhaseStep::started, at_ms(50)});
  EXPECT_EQ(live_snapshot(lives, at_ms(100)).step, PhaseStep::started);
  EXPECT_EQ(live_snapshot(lives, at_ms(100)).elapsed, 50_ms) << "by the first shard's start";
  EXPECT_EQ(live_snapshot(lives, at_ms(40)).elapsed, Duration{}) << "before that start";
}

TEST(LiveEdges, a_plan_without_an_end_shows_none) {
  Plan plan = edge_plan();
  const auto live = std::make_unique<Live>(plan);
  live->on_phase({0, PhaseStep::started, at_ms(0)});
  const LiveSnapshot shown = shown_at(*live, 5);
  EXPECT_EQ(shown.kind, PhaseKind::warmup);
  EXPECT_FALSE(shown.open_loop);
  EXPECT_EQ(shown.queries_planned, std::nullopt);
  EXPECT_EQ(shown.duration_max, std::nullopt);
}

// The seconds stand in a ring: a second long gone has the place of a later one.
TEST(LiveEdges, a_query_that_was_due_long_ago_is_not_offered_now) {
  const auto live = begun();
  for (std::int64_t s = 0; s < 200; ++s) {
    live->on_sent({.index = static_cast<std::uint32_t>(s), .phase = 1}, at_ms(0),
                  at_ms(1000 * s + 500));
  }
  const LiveSnapshot shown = shown_at(*live, 200'000);
  EXPECT_EQ(shown.sent, 200U);
  EXPECT_EQ(shown.achieved_qps, 1);
  EXPECT_EQ(shown.offered_qps, 0);
}

TEST(LiveEdges, a_phase_shows_no_second_and_no_share_of_the_one_before) {
  const auto live = std::make_unique<Live>(edge_plan());
  live->on_phase({0, PhaseStep::started, at_ms(0)});
  for (std::uint32_t i = 0; i < 50; ++i) {
    HandMadeQuery q = steady_query(0, i, 100 * i, 20, 10, 4);
    q.usage.completion_tokens = 40;  // ten a fragment
    q.due = at_ms(100 * i - 50);
    tell(q, *live);
  }
  EXPECT_GT(shown_at(*live, 5000).lateness.count, 0U);
  live->on_phase({1, PhaseStep::started, at_ms(5000)});
  LiveSnapshot shown = shown_at(*live, 9000);
  EXPECT_EQ(shown.completions, std::vector<double>(4, 0.0));
  EXPECT_EQ(shown.offered_qps + shown.achieved_qps + shown.completed_qps + shown.output_tps, 0);
  EXPECT_FALSE(shown.tokens_known);
  EXPECT_EQ(shown.ttft.count + shown.tpot.count + shown.lateness.count, 0U);
  // Each fragment of a reply that says nothing of its tokens is one.
  HandMadeQuery q = steady_query(1, 60, 9000, 20, 10, 4);
  q.usage = Usage{};
  tell_sent(q, *live);
  tell_stream(q, *live);
  shown = shown_at(*live, 10'000);
  EXPECT_FALSE(shown.tokens_known);
  EXPECT_EQ(shown.tokens.back(), 4);
}

TEST(LiveEdges, a_second_that_comes_round_again_has_nothing_of_the_old_one) {
  const auto live = begun();
  for (std::uint32_t s = 0; s < 64; ++s) tell(steady_query(1, s, 1000 * s, 20, 10, 3), *live);
  tell(steady_query(1, 64, 66'000, 700, 200, 2), *live);
  const LiveSnapshot shown = shown_at(*live, 68'000);
  ASSERT_EQ(shown.ttft_ms.size(), kLiveSeconds);
  for (const std::size_t at : {56U, 57U, 59U}) {  // seconds 64, 65 and 67
    EXPECT_FALSE(shown.ttft_ms[at]) << at;
    EXPECT_FALSE(shown.tpot_ms[at]) << at;
    EXPECT_EQ(shown.completions[at], 0) << at;
    EXPECT_EQ(shown.tokens[at], 0) << at;
  }
  EXPECT_NEAR(shown.ttft_ms[58].value(), 700, 700 * 0.125);
  EXPECT_NEAR(shown.tpot_ms[58].value(), 200, 200 * 0.125);
  EXPECT_EQ(shown.completions[58], 1);
  EXPECT_DOUBLE_EQ(shown.offered_qps, 0.7) << "58 to 63, and 66";
  EXPECT_DOUBLE_EQ(shown.achieved_qps, 0.7);
  EXPECT_DOUBLE_EQ(shown.completed_qps, 0.7);
  // The second whose place is that of second 0.
  EXPECT_NEAR(shown_at(*live, 64'000).ttft_ms[59].value(), 20, 20 * 0.125);
}

TEST(LiveEdges, a_time_below_nothing_is_nothing) {
  const auto live = begun();
  HandMadeQuery q = steady_query(1, 0, 500, -3, 1, 2);
  q.due = at_ms(501);
  tell(q, *live);
  const LiveSnapshot shown = shown_at(*live, 1000);
  EXPECT_EQ(shown.ttft.count, 1U);
  EXPECT_EQ(shown.ttft.p99, Duration{});
  EXPECT_EQ(shown.lateness.p99, Duration{});
  EXPECT_DOUBLE_EQ(shown.ttft_ms.at(0).value(), 0.0005) << "the middle of the first bin";
}

TEST(LiveEdges, a_bin_is_shown_by_its_middle_from_a_microsecond_to_hours) {
  const auto middle = [](Duration ttft) {
    const auto live = begun();
    HandMadeQuery q = steady_query(1, 0, 0, 0, 0, 1);
    q.events[0].arrival = q.sent + ttft;
    q.done = q.sent + ttft;
    tell(q, *live);
    return shown_at(*live, ttft.ns / 1'000'000 + 1000).ttft_ms.back().value_or(-1);
  };
  EXPECT_DOUBLE_EQ(middle(999_ns), 0.0005);
  EXPECT_DOUBLE_EQ(middle(1000_ns), 0.0015);
  EXPECT_DOUBLE_EQ(middle(3_us), 0.0035);
  EXPECT_DOUBLE_EQ(middle(4_us), 0.0045);
  EXPECT_DOUBLE_EQ(middle(7_us), 0.0075);
  EXPECT_DOUBLE_EQ(middle(8_us), 0.009);
  EXPECT_DOUBLE_EQ(middle(1024_us), 1.152) << "1024 to 1279 us";
  EXPECT_DOUBLE_EQ(middle(2047_us), 1.92) << "1792 to 2047 us";
  EXPECT_DOUBLE_EQ(middle(5400_s), 5.5 * 1'073'741.824) << "2^32 us and a quarter more";
  EXPECT_DOUBLE_EQ(middle(14'400_s), 7.5 * 1'073'741.824) << "the last one is open";
}

TEST(LiveEdges, of_two_values_the_lower_is_the_median_of_a_second) {
  const auto live = begun();
  tell(steady_query(1, 0, 0, 10, 1, 3), *live);
  tell(steady_query(1, 1, 0, 200, 40, 3), *live);
  const LiveSnapshot shown = shown_at(*live, 1000);
  EXPECT_NEAR(shown.ttft_ms.at(0).value(), 10, 1.25);
  EXPECT_NEAR(shown.tpot_ms.at(0).value(), 1, 0.125);
}

TEST(LiveEdges, percentiles_of_the_phase_are_of_all_its_values) {
  const auto live = begun();
  for (std::uint32_t i = 1; i <= 100; ++i) {
    HandMadeQuery q = steady_query(1, i, 200, 10 * i, i, 3);
    q.due = at_ms(200 - static_cast<std::int64_t>(i));
    tell(q, *live);
  }
  const LiveSnapshot shown = shown_at(*live, 5000);
  for (const auto& [series, each] :
       {std::pair{&shown.ttft, 10.0}, {&shown.tpot, 1.0}, {&shown.lateness, 1.0}}) {
    EXPECT_EQ(series->count, 100U);
    EXPECT_NEAR(series->p50.ms(), 50 * each, each);
    EXPECT_NEAR(series->p90.ms(), 90 * each, each);
    EXPECT_NEAR(series->p99.ms(), 99 * each, each);
  }
}

TEST(LiveEdges, what_was_due_before_its_phase_began_counts_in_the_first_second) {
  const auto live = begun();
  HandMadeQuery q = steady_query(1, 0, 200, 20, 10, 3);
  q.due = at_ms(-5000);
  tell(q, *live);
  EXPECT_DOUBLE_EQ(shown_at(*live, 1000).offered_qps, 1);
}

TEST(LiveEdges, a_slot_is_free_again_when_its_query_has_ended) {
  const auto live = begun();
  tell(steady_query(1, 3, 0, 50, 10, 4), *live);
  const HandMadeQuery next = steady_query(1, 3 + (1U << 15), 100, 60, 10, 4);
  tell_sent(next, *live);
  tell_stream(next, *live);
  EXPECT_EQ(shown_at(*live, 200).ttft.count, 2U) << "before its end";
  live->on_done(event_of(next), "");
  EXPECT_EQ(shown_at(*live, 200).ttft.count, 2U);
}

TEST(LiveEdges, a_query_that_was_never_sent_ends_no_other) {
  const auto live = begun();
  tell_sent(steady_query(1, 0, 0, 50, 10, 4), *live);
  HandMadeQuery never = steady_query(1, 1, 0, 50, 10, 0);
  never.sent = Instant::none();
  never.done = at_ms(20);
  never.outcome = Outcome::connect_failed;
  tell(never, *live);
  const LiveSnapshot shown = shown_at(*live, 100);
  EXPECT_EQ(shown.in_flight, 1U);
  EXPECT_EQ(shown.sent, 1U);
  EXPECT_EQ(shown.failed, 1U);
}

TEST(LiveEdges, a_reply_is_completed_in_the_second_in_which_its_end_was_read) {
  const auto live = begun();
  Event event = event_of(steady_query(1, 0, 100, 700, 100, 3));  // done at 1 s
  event.done = at_ms(990);
  event.read_delay_done = 20_ms;
  live->on_done(event, "");
  const LiveSnapshot shown = shown_at(*live, 2000);
  EXPECT_EQ(shown.completions, (std::vector<double>{0, 1}));
  EXPECT_FALSE(shown.tpot_ms[0]);
  EXPECT_TRUE(shown.tpot_ms[1]);
  EXPECT_FALSE(shown.ttft_ms[0]);
  EXPECT_NEAR(shown.ttft_ms[1].value(), 700, 700 * 0.125) << "known at its end only";
  EXPECT_NEAR(shown.ttft.p50.ms(), 700, 7);
}

TEST(LiveEdges, at_its_end_a_reply_has_a_ttft_where_both_instants_are_known) {
  const auto count = [](const auto& change) {
    const auto live = begun();
    Event event = event_of(steady_query(1, 0, 0, 100, 10, 3));
    change(event);
    live->on_done(event, "");
    return shown_at(*live, 2000).ttft.count;
  };
  EXPECT_EQ(count([](Event&) {}), 1U);
  EXPECT_EQ(count([](Event& e) { e.streamed = false; }), 0U);
  EXPECT_EQ(count([](Event& e) { e.first_token = Instant::none(); }), 0U);
  EXPECT_EQ(count([](Event& e) { e.sent = Instant::none(); }), 0U);
  EXPECT_EQ(count([](Event& e) { e.outcome = Outcome::reset; }), 0U);
}

TEST(LiveEdges, every_tpot_of_a_second_counts_in_its_median) {
  const auto live = begun();
  std::uint32_t index = 0;
  const auto add = [&](int queries, std::int64_t gap) {
    for (int i = 0; i < queries; ++i) {
      const HandMadeQuery q = steady_query(1, index++, 0, 10, gap, 3);
      live->on_done(event_of(q), "");
    }
  };
  add(3, 40);
  add(2, 8);
  EXPECT_NEAR(shown_at(*live, 1000).tpot_ms.at(0).value(), 40, 5);
  add(2, 8);
  EXPECT_NEAR(shown_at(*live, 1000).tpot_ms.at(0).value(), 8, 1);
}

TEST(LiveEdges, a_tpot_is_over_the_tokens_after_the_first_of_each_choice) {
  const auto tpot = [](const auto& change) {
    const auto live = begun();
    Event event = event_of(steady_query(1, 0, 0, 100, 10, 5));  // 40 ms after the first
    change(event);
    live->on_done(event, "");
    const LiveSnapshot shown = shown_at(*live, 1000);
    return shown.tpot.count == 0 ? -1 : shown.tpot_ms.at(0).value();
  };
  EXPECT_NEAR(tpot([](Event&) {}), 10, 1.25);
  const auto counted = [](std::int32_t tokens, std::uint32_t choices) {
    return [tokens, choices](Event& e) {
      e.usage.completion_tokens = tokens;
      e.choices_asked = static_cast<std::uint16_t>(choices);
    };
  };
  EXPECT_NEAR(tpot(counted(21, 1)), 2, 0.25);
  EXPECT_NEAR(tpot(counted(10, 2)), 10, 1.25) << "five each";
  EXPECT_NEAR(tpot(counted(2, 1)), 40, 5);
  EXPECT_NEAR(tpot(counted(-1, 1)), 10, 1.25) << "each of five fragments is one";
  EXPECT_EQ(tpot(counted(1, 1)), -1);
  EXPECT_EQ(tpot(counted(3, 2)), -1) << "one each";
  EXPECT_EQ(tpot([](Event& e) { e.streamed = false; }), -1);
  EXPECT_EQ(tpot([](Event& e) { e.first_token = Instant::none(); }), -1);
  EXPECT_EQ(tpot([](Event& e) { e.outcome = Outcome::reset; }), -1);
}

TEST(LiveEdges, a_ttft_is_of_the_second_in_which_its_fragment_was_read) {
  const auto live = begun();
  HandMadeQuery q = steady_query(1, 0, 100, 890, 10, 3);
  q.events[0].read_delay = 20_ms;
  tell_sent(q, *live);
  tell_stream(q, *live);
  const LiveSnapshot shown = shown_at(*live, 2000);
  EXPECT_FALSE(shown.ttft_ms[0]);
  EXPECT_NEAR(shown.ttft_ms[1].value(), 890, 890 * 0.125);
}

TEST(LiveEdges, at_its_end_a_ttft_is_from_the_sending_to_the_first_fragment_of_any_kind) {
  const auto live = begun();
  HandMadeQuery q = steady_query(1, 0, 200, 100, 200, 3);
  q.due = at_ms(0);
  q.events[0].category = Category::reasoning;
  tell_sent(q, *live);
  live->on_done(event_of(q), "");  // no event of its stream came before
  const LiveSnapshot shown = shown_at(*live, 2000);
  EXPECT_EQ(shown.ttft.count, 1U);
  EXPECT_NEAR(shown.ttft.p50.ms(), 100, 1);
}

TEST(LiveEdges, a_reply_of_no_tokens_counts_with_its_fragments_and_has_no_tpot) {
  const auto live = begun();
  HandMadeQuery none = steady_query(1, 0, 0, 10, 10, 2);
  none.usage.completion_tokens = 0;
  HandMadeQuery four = steady_query(1, 1, 0, 10, 10, 2);
  four.usage.completion_tokens = 4;
  tell(none, *live);
  tell(four, *live);
  const LiveSnapshot shown = shown_at(*live, 1000);
  EXPECT_EQ(shown.tpot.count, 1U);
  ASSERT_EQ(shown.tokens.size(), 1U);
  EXPECT_DOUBLE_EQ(shown.tokens[0], 4) << "four fragments of one token each on average";
}

TEST(LiveEdges, one_fragment_of_a_counted_reply_makes_the_tokens_known) {
  const auto live = begun();
  EXPECT_FALSE(shown_at(*live, 1000).tokens_known);
  HandMadeQuery one = steady_query(1, 0, 0, 10, 10, 1);
  one.usage.completion_tokens = 3;
  tell(one, *live);
  EXPECT_TRUE(shown_at(*live, 1000).tokens_known);
  EXPECT_DOUBLE_EQ(shown_at(*live, 1000).tokens.at(0), 3);
}

}  // namespace
}  // namespace assay::metrics
