// What ends a replay of conversations, and when exactly: its time, a dead target, a request to
// stop, the guard. What it passes to its tail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "run/run.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

using testing::ElementsAre;

// A replay with `turns` turns in each conversation. Turn t of conversation c asks sample 10 c + t.
PhasePlan replay_phase(std::uint32_t conversations, std::uint32_t turns, std::uint32_t at_once) {
  PhasePlan phase{.name = "performance"};
  phase.replay = true;
  for (std::uint32_t c = 0; c < conversations; ++c) {
    phase.conversations.emplace_back();
    for (std::uint32_t t = 0; t < turns; ++t) {
      phase.conversations.back().turns.push_back({10 * c + t, {}});
    }
  }
  phase.limits = {{{}, at_once}};
  phase.drain = false;
  return phase;
}

PhasePlan tail_phase() { return {.kind = PhaseKind::tail, .name = "tail", .limits = {{{}, 1}}}; }

std::vector<std::uint32_t> asked_in(const ScriptedTarget& target, std::uint16_t phase) {
  std::vector<std::uint32_t> out;
  for (const ScriptedTarget::Sent& one : target.sent) {
    if (one.query.phase == phase) out.push_back(one.query.sample);
  }
  return out;
}

TEST(ReplayStops, a_turn_that_is_due_when_the_time_is_over_is_not_sent) {
  PhasePlan phase = replay_phase(1, 9, 1);
  phase.stop.duration_max = 30_ms;
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Ran ran = run_scripted(Plan{.phases = {phase, tail_phase()}}, clock, target);
  EXPECT_EQ(ran.result.phases[0].issued, 3U) << "at 0, 10 and 20 ms";
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::duration);
  EXPECT_EQ(ran.result.phases[1].issued, 0U) << "a replay whose time is over leaves no tail";
  EXPECT_EQ(ran.end, Instant{} + 30_ms);
}

TEST(ReplayStops, the_loop_comes_back_for_the_end_of_its_time_while_replies_are_slow) {
  PhasePlan phase = replay_phase(1, 9, 1);
  phase.stop.duration_max = 70_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query&) { return std::vector<Said>{end_at(200_ms)}; });
  const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_EQ(ran.result.phases[0].issue_ended, Instant{} + 70_ms);
  EXPECT_EQ(ran.result.phases[0].completed, 1U);
}

TEST(ReplayStops, a_dead_target_ends_it_at_the_very_instant) {
  PhasePlan phase = replay_phase(2, 3, 1);
  phase.stop.idle_max = 100_ms;
  PhasePlan after = tail_phase();
  after.stop = phase.stop;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(query.sample == 0 ? 30_ms : 10_s)};
  });
  const Ran ran = run_scripted(Plan{.phases = {phase, after}}, clock, target);
  EXPECT_TRUE(ran.result.target_dead);
  ASSERT_EQ(ran.result.phases.size(), 1U);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::idle);
  EXPECT_EQ(ran.end, Instant{} + 130_ms);
  EXPECT_EQ(target.cancelled_at, ran.end);
}

TEST(ReplayStops, asked_to_stop_it_sends_no_turn_more_and_no_tail_follows) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  Control control;
  target.at_poll = [&](Instant now) {
    if (now >= Instant{} + 20_ms) control.ask_to_stop();
  };
  HeardSink sink;
  const RunResult result =
      run(Plan{.phases = {replay_phase(1, 9, 1), tail_phase()}}, clock, target, sink, control);
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.phases.size(), 1U);
  EXPECT_EQ(result.phases[0].stopped, StopReason::interrupted);
  EXPECT_THAT(asked_in(target, 0), ElementsAre(0, 1, 2));
  EXPECT_EQ(result.phases[0].completed, 3U);
}

TEST(ReplayStops, the_guard_stops_it_and_what_it_gave_up_is_no_failure_of_the_endpoint) {
  // Every conversation fails at its first turn, which gives up two more.
  SimClock clock;
  ScriptedTarget target(
      clock, [](const Query&) -> std::vector<Said> { return {end_at(10_ms, Outcome::reset)}; });
  const Plan plan{.phases = {replay_phase(9, 3, 1), tail_phase()}, .guard = {.failures_max = 2}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_TRUE(ran.result.guarded);
  ASSERT_EQ(ran.result.phases.size(), 1U);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::failures);
  EXPECT_THAT(asked_in(target, 0), ElementsAre(0, 10, 20));
  EXPECT_EQ(ran.result.phases[0].issued, 9U);
  EXPECT_EQ(ran.result.phases[0].failed, 9U);
}

TEST(ReplayStops, a_turn_that_is_held_back_is_counted_as_a_back_off_and_is_not_late) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    if (query.sample != 0) return {end_at(10_ms)};
    return {{.arrival = 10_ms, .told = 10_ms, .outcome = Outcome::ok, .retry_after = 90_ms}};
  });
  const Plan plan{.phases = {replay_phase(1, 4, 1), tail_phase()},
                  .guard = {.honour_retry_after = true}};
  const Ran ran = run_scripted(plan, clock, target);
  ASSERT_EQ(target.sent.size(), 4U);
  EXPECT_EQ(target.sent[1].due, Instant{} + 10_ms);
  EXPECT_EQ(target.sent[1].at, Instant{} + 100_ms);
  EXPECT_EQ(ran.result.backoffs, 1U);
  EXPECT_EQ(ran.result.backed_off, 90_ms);
  EXPECT_EQ(ran.result.send_lag.max, Duration{});
  EXPECT_EQ(ran.result.send_lag.count, 4U);
}

TEST(ReplayStops, what_is_given_up_is_due_and_done_when_that_is_known) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(10_ms, query.sample == 1 ? Outcome::reset : Outcome::ok)};
  });
  const Ran ran = run_scripted(Plan{.phases = {replay_phase(1, 4, 1)}}, clock, target);
  EXPECT_THAT(ran.sink.heard,
              ElementsAre("phase 0 started 0", "sent 0 due 0 at 0", "done 0 10 detail",
                          "sent 1 due 10 at 10", "done 1 20 detail",
                          "done 2 20 TurnAbortedByPriorFailure: prior turn errored: reset",
                          "done 3 20 TurnAbortedByPriorFailure: prior turn errored: reset",
                          "phase 0 issued 20", "phase 0 drained 20"));
  EXPECT_EQ(ran.sink.outcomes.back(), Outcome::cancelled);
}

TEST(ReplayStops, a_tail_goes_on_with_what_ended_while_the_replay_drained) {
  PhasePlan phase = replay_phase(2, 4, 2);
  phase.conversations[0].turns.resize(1);
  phase.drain = true;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(query.sample == 10 ? 15_ms : 10_ms)};
  });
  const Ran ran = run_scripted(Plan{.phases = {phase, tail_phase()}}, clock, target);
  EXPECT_THAT(asked_in(target, 0), ElementsAre(0, 10));
  EXPECT_THAT(asked_in(target, 1), ElementsAre(11, 12, 13));
  EXPECT_EQ(ran.result.phases[1].started, Instant{} + 15_ms);
  EXPECT_EQ(ran.result.phases[1].stopped, StopReason::schedule);
}

TEST(ReplayStops, a_tail_that_does_not_follow_its_replay_has_nothing_to_go_on_with) {
  PhasePlan phase = replay_phase(2, 4, 2);
  phase.conversations[0].turns.resize(1);
  for (const PhasePlan& between : {slots(1, 2), schedule({Duration{}, 5_ms})}) {
    SimClock clock;
    ScriptedTarget target(clock, in_10_ms);
    const Plan plan{.phases = {phase, between, tail_phase()}};
    const Ran ran = run_scripted(plan, clock, target);
    EXPECT_THAT(asked_in(target, 0), ElementsAre(0, 10));
    EXPECT_EQ(ran.result.phases[1].completed, 2U);
    EXPECT_EQ(ran.result.phases[2].issued, 0U);
  }
}

TEST(ReplayStops, as_many_go_on_at_once_as_the_first_limit_says) {
  PhasePlan phase = replay_phase(6, 2, 2);
  phase.limits.push_back({100_ms, 5});
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  run_scripted(Plan{.phases = {phase, tail_phase()}}, clock, target);
  EXPECT_EQ(std::ranges::count_if(target.sent, [](const auto& one) { return one.at == Instant{}; }),
            2);
}

TEST(ReplayStops, two_replays_in_a_row_each_begin_their_own_conversations) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Plan plan{
      .phases = {replay_phase(2, 2, 1), tail_phase(), replay_phase(1, 3, 1), tail_phase()}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_THAT(asked_in(target, 0), ElementsAre(0, 1, 10, 11));
  EXPECT_THAT(asked_in(target, 2), ElementsAre(0, 1, 2));
  EXPECT_EQ(ran.end, Instant{} + 70_ms);
}

}  // namespace
}  // namespace assay::run
