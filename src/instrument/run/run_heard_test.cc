// How the loop uses the target's reports: which of two instants it counts by, what it passes on,
// and when exactly it stops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/enum_name.h"
#include "base/format.h"
#include "run/run.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

using testing::ElementsAre;

TEST(RunHeard, the_sink_hears_all_that_happens_and_the_steps_of_each_phase) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query&) -> std::vector<Said> {
    return {event_at(4_ms), end_at(10_ms)};
  });
  const Ran ran = run_scripted(Plan{.phases = {slots(1, 2), slots(1, 1)}}, clock, target);
  EXPECT_THAT(ran.sink.heard,
              ElementsAre("phase 0 started 0", "sent 0 due 0 at 0", "event 0 4 word",
                          "done 0 10 detail", "sent 1 due 10 at 10", "phase 0 issued 10",
                          "event 1 14 word", "done 1 20 detail", "phase 0 drained 20",
                          "phase 1 started 20", "sent 0 due 20 at 20", "phase 1 issued 20",
                          "event 0 24 word", "done 0 30 detail", "phase 1 drained 30"));
  const PhaseResult& first = ran.result.phases[0];
  EXPECT_EQ(first.started, Instant{});
  EXPECT_EQ(first.issue_ended, Instant{} + 10_ms);
  EXPECT_EQ(first.ended, Instant{} + 20_ms);
  EXPECT_EQ(ran.result.phases[1].started, Instant{} + 20_ms);
}

TEST(RunHeard, a_phase_that_is_not_drained_ends_with_its_last_query_and_keeps_its_counts) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(100_ms, query.index == 1 ? Outcome::reset : Outcome::ok)};
  });
  PhasePlan first = slots(3, 3);
  first.drain = false;
  PhasePlan second = slots(4, 1);
  second.drain = false;
  const Ran ran = run_scripted(Plan{.phases = {first, second}}, clock, target);
  const PhaseResult& one = ran.result.phases[0];
  EXPECT_EQ(one.ended, Instant{}) << "its three are still in flight";
  EXPECT_EQ(one.issued, 3U);
  EXPECT_EQ(one.completed, 2U);
  EXPECT_EQ(one.failed, 1U);
  EXPECT_EQ(ran.result.phases[1].started, Instant{});
  EXPECT_EQ(ran.result.phases[1].ended, Instant{} + 100_ms) << "the last phase is always drained";
}

TEST(RunHeard, a_run_that_nothing_stopped_says_so) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Ran ran = run_scripted(Plan{.phases = {slots(2, 7)}}, clock, target);
  EXPECT_FALSE(ran.result.interrupted);
  EXPECT_FALSE(ran.result.target_dead);
  EXPECT_FALSE(ran.result.guarded);
  EXPECT_EQ(ran.result.backoffs, 0U);
  EXPECT_EQ(ran.result.backed_off, Duration{});
  EXPECT_TRUE(ran.result.phases[0].drained);
  const RunResult nothing;
  EXPECT_TRUE(nothing.phases.empty());
  EXPECT_FALSE(nothing.interrupted || nothing.target_dead || nothing.guarded);
  EXPECT_EQ(nothing.backoffs, 0U);
  const PhaseResult none;
  EXPECT_EQ(none.phase + none.issued + none.completed + none.failed, 0U);
  EXPECT_EQ(none.stopped, StopReason::count);
  EXPECT_TRUE(none.drained);
}

TEST(RunHeard, reasons_are_spelled_as_in_the_run_folder) {
  const std::vector<std::string_view> words = {"count",   "schedule", "duration",
                                               "passes",  "idle",     "interrupted",
                                               "refused", "failures", "budget"};
  for (std::size_t i = 0; i < words.size(); ++i) {
    EXPECT_EQ(enum_name(static_cast<StopReason>(i)), words[i]);
  }
}

// Lags of the loop: from the arrival of waiting bytes, or from the loop's planned return.

struct LoopLag {
  Duration max{};
  std::uint64_t count = 0;
  bool operator==(const LoopLag&) const = default;
};

LoopLag loop_lag_of(const std::vector<Said>& reply, Duration oversleep = {}) {
  SimClock clock;
  ScriptedTarget target(clock, [&](const Query&) { return reply; });
  target.oversleep = oversleep;
  const Ran ran = run_scripted(Plan{.phases = {slots(1, 1)}}, clock, target);
  EXPECT_EQ(ran.result.loop_lag.count, target.polls.size()) << "each wait has a lag";
  return {ran.result.loop_lag.max, ran.result.loop_lag.count};
}

TEST(RunHeard, the_loops_lag_counts_from_the_arrival_and_not_from_the_read) {
  EXPECT_EQ(loop_lag_of({{.arrival = 10_ms, .told = 13_ms}, end_at(14_ms)}).max, 3_ms);
  EXPECT_EQ(loop_lag_of({{.arrival = 10_ms, .told = 13_ms, .outcome = Outcome::ok}}).max, 3_ms);
  EXPECT_EQ(loop_lag_of({event_at(10_ms), end_at(14_ms)}), (LoopLag{{}, 2}));
}

TEST(RunHeard, of_what_waited_the_earliest_counts) {
  EXPECT_EQ(
      loop_lag_of(
          {{.arrival = 10_ms, .told = 14_ms}, {.arrival = 12_ms, .told = 14_ms}, end_at(30_ms)})
          .max,
      4_ms);
  EXPECT_EQ(
      loop_lag_of(
          {{.arrival = 12_ms, .told = 14_ms}, {.arrival = 10_ms, .told = 14_ms}, end_at(30_ms)})
          .max,
      4_ms);
  EXPECT_EQ(loop_lag_of({{.arrival = 11_ms, .told = 14_ms},
                         {.arrival = 13_ms, .told = 14_ms, .outcome = Outcome::ok}})
                .max,
            3_ms);
}

TEST(RunHeard, the_end_of_a_query_that_failed_is_no_reason_to_come_back) {
  EXPECT_EQ(loop_lag_of({{.arrival = 10_ms, .told = 13_ms, .outcome = Outcome::timed_out}}).max,
            Duration{});
}

// The wait for the second began at 13 ms: the first one's lag is not part of its lag.
TEST(RunHeard, what_came_before_a_wait_counts_from_the_waits_beginning_and_each_wait_by_itself) {
  EXPECT_EQ(loop_lag_of({{.arrival = 10_ms, .told = 13_ms},
                         {.arrival = 12_ms, .told = 15_ms},
                         {.arrival = 16_ms, .told = 16_ms, .outcome = Outcome::ok}})
                .max,
            3_ms);
  EXPECT_EQ(loop_lag_of({event_at(10_ms), {.arrival = 5_ms, .told = 12_ms}, end_at(13_ms)}).max,
            2_ms);
}

TEST(RunHeard, without_anything_to_hear_the_loops_lag_counts_from_when_it_meant_to_be_back) {
  // Waits of 50 ms that take 52; the reply comes within the third.
  EXPECT_EQ(loop_lag_of({end_at(110_ms)}, 2_ms), (LoopLag{2_ms, 3}));
}

// A dead target: nothing for idle_max while queries are in flight.

struct Death {
  bool dead = false;
  std::int64_t ms = 0;
};

Death death_of(const Plan& plan, ScriptedTarget::Script script) {
  SimClock clock;
  ScriptedTarget target(clock, std::move(script));
  const Ran ran = run_scripted(plan, clock, target);
  const PhaseResult& last = ran.result.phases.back();
  // Queries in flight then are cancelled at once.
  if (target.cancelled_at.known()) {
    EXPECT_EQ(target.cancelled_at, ran.end);
  }
  EXPECT_EQ(last.drained, !target.cancelled_at.known());
  return {ran.result.target_dead, ran.end.ns / 1'000'000};
}

Plan idle_after(PhasePlan phase, Duration idle_max) {
  phase.stop.idle_max = idle_max;
  return Plan{.phases = {std::move(phase)}};
}

TEST(RunHeard, a_silent_target_is_dead_at_the_very_instant_of_the_limit) {
  // Replies at 30 ms; the second query never gets one: the loop checks at 80 and at 130 ms.
  const auto once = [](const Query& query) -> std::vector<Said> {
    return {end_at(query.index == 0 ? 30_ms : 10_s)};
  };
  for (const std::uint64_t queries : {2U, 3U}) {  // while it drains, and while it would send more
    const Death death = death_of(idle_after(slots(1, queries), 100_ms), once);
    EXPECT_TRUE(death.dead);
    EXPECT_EQ(death.ms, 130);
  }
}

TEST(RunHeard, a_stream_that_goes_on_is_alive_and_what_was_read_late_counts_from_its_read) {
  std::vector<Said> stream;
  for (int i = 1; i <= 20; ++i) stream.push_back(event_at(90_ms * i));
  stream.push_back(end_at(1900_ms));
  const auto script = [&](const Query&) { return stream; };
  EXPECT_FALSE(death_of(idle_after(slots(1, 1), 100_ms), script).dead);
  EXPECT_FALSE(death_of(idle_after(slots(1, 2), 100_ms), script).dead);
  // It came at 10 ms, was read at 40, then nothing: checks at 90 (80 ms after it came) and at 140.
  const Death death = death_of(idle_after(slots(1, 1), 80_ms), [](const Query&) {
    return std::vector<Said>{{.arrival = 10_ms, .told = 40_ms}, end_at(10_s)};
  });
  EXPECT_EQ(death.ms, 140);
}

TEST(RunHeard, the_end_of_one_query_is_a_sign_of_life_for_the_others) {
  // An end at 60 ms, then silence. The loop checks at 50, 60, 110, 160.
  const auto script = [](const Query& query) -> std::vector<Said> {
    return {end_at(query.index == 0 ? 60_ms : 10_s)};
  };
  EXPECT_EQ(death_of(idle_after(slots(2, 2), 100_ms), script).ms, 160);
  // A late report of an end does not move earlier activity: the event read at 58 ms counts.
  const auto late = [](const Query& query) -> std::vector<Said> {
    if (query.index == 1) return {end_at(10_s)};
    return {{.arrival = 58_ms, .told = 58_ms},
            {.arrival = 20_ms, .told = 60_ms, .outcome = Outcome::ok}};
  };
  EXPECT_EQ(death_of(idle_after(slots(2, 2), 90_ms), late).ms, 160);
}

TEST(RunHeard, failures_are_no_sign_of_life) {
  // Each refused after 30 ms, one at a time: at 120 ms no success has come for 100.
  const auto refuses = [](const Query&) -> std::vector<Said> {
    return {end_at(30_ms, Outcome::connect_failed)};
  };
  const Death death = death_of(idle_after(slots(1, 100), 100_ms), refuses);
  EXPECT_TRUE(death.dead);
  EXPECT_EQ(death.ms, 120);
  // A success among them counts as activity.
  const auto some = [](const Query& query) -> std::vector<Said> {
    return {end_at(30_ms, query.index % 3 == 0 ? Outcome::ok : Outcome::connect_failed)};
  };
  EXPECT_FALSE(death_of(idle_after(slots(1, 100), 100_ms), some).dead);
}

TEST(RunHeard, a_target_of_which_nothing_is_wanted_is_not_dead) {
  // Before the first query, and between two, 400 ms pass with nothing in flight.
  const Plan plan = idle_after(schedule({400_ms, 800_ms}), 100_ms);
  EXPECT_FALSE(death_of(plan, in_10_ms).dead);
  // Its earlier activity does not count when a query goes out: 100 ms of silence from 800 ms on.
  const Death death = death_of(plan, [](const Query& query) -> std::vector<Said> {
    return {end_at(query.index == 0 ? 10_ms : 10_s)};
  });
  EXPECT_TRUE(death.dead);
  EXPECT_EQ(death.ms, 900);
}

// The send takes 150 ms, in which the loop hears nothing.
TEST(RunHeard, replies_that_wait_are_read_before_a_target_is_dead) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  target.send_cost = 150_ms;
  target.at_poll = [&](Instant now) {
    if (now == Instant{} + 150_ms) clock.sleep_until(now + 20_ms);
  };
  const Ran ran = run_scripted(idle_after(slots(1, 2), 100_ms), clock, target);
  EXPECT_FALSE(ran.result.target_dead);
  EXPECT_EQ(ran.result.phases[0].completed, 2U);
  ASSERT_EQ(target.sent.size(), 2U);
  EXPECT_EQ(target.sent[1].at, Instant{} + 170_ms);
  EXPECT_EQ(ran.result.send_lag.max, 160_ms) << "from the end of the first to the send";
}

TEST(RunHeard, a_phase_begins_with_a_target_that_is_alive) {
  // One query of the first phase, which has no idle limit, stays in flight for a second.
  Plan plan{.phases = {schedule({0_ms, 500_ms}), schedule({0_ms, 60_ms, 120_ms, 180_ms})}};
  plan.phases[0].drain = false;
  plan.phases[1].stop.idle_max = 100_ms;
  const auto script = [](const Query& query) -> std::vector<Said> {
    return {end_at(query.phase == 0 && query.index == 0 ? 700_ms : 10_ms)};
  };
  EXPECT_FALSE(death_of(plan, script).dead);
}

TEST(RunHeard, no_phase_follows_one_in_which_the_target_died) {
  Plan plan{.phases = {slots(1, 5), slots(1, 5)}};
  plan.phases[0].stop.idle_max = 100_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query&) { return std::vector<Said>{end_at(10_s)}; });
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_EQ(ran.result.phases.size(), 1U);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::idle);
  EXPECT_EQ(ran.end, Instant{} + 100_ms);
}

// When to stop.

TEST(RunHeard, whole_passes_end_at_the_first_that_is_whole_when_the_time_has_passed) {
  // One query after the other, 10 ms each.
  const auto issued = [](std::uint64_t pass, Duration duration_min) {
    PhasePlan phase = slots(1, 1000);
    phase.stop.pass = pass;
    phase.stop.duration_min = duration_min;
    SimClock clock;
    ScriptedTarget target(clock, in_10_ms);
    const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
    EXPECT_EQ(ran.result.phases[0].stopped, StopReason::passes);
    return ran.result.phases[0].issued;
  };
  // The n-th is issued at (n − 1) × 10 ms; the stop rule is checked just before.
  for (std::uint64_t pass = 1; pass <= 5; ++pass) {
    for (std::uint64_t ten_ms = 1; ten_ms <= 20; ++ten_ms) {
      const std::uint64_t by_then = ten_ms;  // issued when the time has passed
      EXPECT_EQ(issued(pass, 10_ms * static_cast<std::int64_t>(ten_ms)),
                (by_then + pass - 1) / pass * pass)
          << pass << " a pass, " << ten_ms;
    }
  }
  EXPECT_EQ(issued(4, 1_ms), 4U) << "no pass at all is not a whole number of them";
}

TEST(RunHeard, when_the_time_is_over_no_phase_begins_not_even_at_that_very_instant) {
  Plan plan;
  for (int i = 0; i < 4; ++i) {
    plan.phases.push_back(slots(1, 10));  // 100 ms
    plan.phases.back().begin_max = 200_ms;
  }
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  EXPECT_EQ(run_scripted(plan, clock, target).result.phases.size(), 2U);
}

TEST(RunHeard, all_of_a_burst_is_due_at_its_start_however_long_the_sends_take) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  target.send_cost = 1_ms;
  PhasePlan burst = slots(1, 20);
  burst.limits = {LimitStep{}};
  const Ran ran = run_scripted(Plan{.phases = {slots(1, 3), burst}}, clock, target);
  const Instant start = ran.result.phases[1].started;
  ASSERT_EQ(target.sent.size(), 23U);
  for (std::size_t i = 3; i < 23; ++i) EXPECT_EQ(target.sent[i].due, start);
  EXPECT_EQ(ran.result.send_lag.max, 19_ms);
}

// Its last reply came 3 ms before it was read, and so before the second phase began.
TEST(RunHeard, no_query_of_a_phase_is_due_before_the_phase) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query&) -> std::vector<Said> {
    return {{.arrival = 10_ms, .told = 13_ms, .outcome = Outcome::ok}};
  });
  const Ran ran = run_scripted(Plan{.phases = {slots(1, 1), slots(1, 1)}}, clock, target);
  ASSERT_EQ(target.sent.size(), 2U);
  EXPECT_EQ(ran.result.phases[1].started, Instant{} + 13_ms);
  EXPECT_EQ(target.sent[1].due, Instant{} + 13_ms);
}

// The first query ended at 90 ms and is read at 150: its place was free before the limit rose.
TEST(RunHeard, a_place_that_was_free_before_the_limit_in_force_is_due_from_then) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    if (query.index == 0) return {{.arrival = 90_ms, .told = 150_ms, .outcome = Outcome::ok}};
    return {end_at(300_ms)};
  });
  PhasePlan phase = slots(1, 3);
  phase.limits = {{{}, 1}, {100_ms, 2}};
  run_scripted(Plan{.phases = {phase}}, clock, target);
  ASSERT_EQ(target.sent.size(), 3U);
  EXPECT_EQ(target.sent[1].due, Instant{} + 100_ms) << "by the limit";
  EXPECT_EQ(target.sent[2].due, Instant{} + 90_ms);
  EXPECT_EQ(target.sent[2].at, Instant{} + 150_ms);
}

TEST(RunHeard, sinks_are_ticked_every_50_ms_exactly_and_at_the_end) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query&) { return std::vector<Said>{end_at(175_ms)}; });
  EXPECT_THAT(run_scripted(Plan{.phases = {slots(1, 1)}}, clock, target).sink.ticks,
              ElementsAre(0, 50, 100, 150, 175));
}

}  // namespace
}  // namespace assay::run
