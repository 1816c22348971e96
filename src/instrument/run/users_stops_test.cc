// What ends a phase of users in closed loops, and when exactly; what its schedule still owes then.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "run/run.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

using testing::ElementsAre;

std::vector<Said> in_an_hour(const Query&) { return {end_at(3600_s)}; }

TEST(UsersStop, asked_to_stop_they_ask_no_more) {
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  Control control;
  target.at_poll = [&](Instant now) {
    if (now == Instant{} + 30_ms) control.ask_to_stop();
  };
  HeardSink sink;
  const Plan plan{.phases = {with_users({{.users = 2, .rows = {1}}}, 1_s)}};
  const RunResult result = run(plan, clock, target, sink, control);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.phases[0].stopped, StopReason::interrupted);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(0, 0, 10, 10, 20, 20, 30, 30));
  EXPECT_EQ(result.phases[0].completed, 8U);
}

TEST(UsersStop, the_guard_stops_them) {
  SimClock clock;
  ScriptedTarget target(
      clock, [](const Query&) -> std::vector<Said> { return {end_at(10_ms, Outcome::reset)}; });
  const Plan plan{.phases = {with_users({{.users = 1, .rows = {1}}}, 1_s)},
                  .guard = {.failures_max = 2}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_TRUE(ran.result.guarded);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::failures);
  EXPECT_EQ(ran.result.phases[0].issued, 3U);
  EXPECT_EQ(ran.result.phases[0].failed, 3U);
}

TEST(UsersStop, a_dead_target_ends_them_at_the_very_instant) {
  PhasePlan phase = with_users({{.users = 1, .rows = {1}}}, 10_s);
  phase.stop.idle_max = 100_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(query.index == 0 ? 30_ms : 3600_s)};
  });
  const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_TRUE(ran.result.target_dead);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::idle);
  EXPECT_EQ(target.cancelled_at, Instant{} + 130_ms);
  EXPECT_EQ(ran.end, Instant{} + 130_ms);
}

// The phase begins at 20 ms, when the one before it has ended.
Ran after_another(PhasePlan phase, SimClock& clock, ScriptedTarget& target) {
  phase.order = SampleOrder::listed({1001, 1002, 1003});
  return run_scripted(Plan{.phases = {slots(1, 2), phase}}, clock, target);
}

TEST(UsersStop, their_time_is_over_at_its_very_instant_for_the_schedule_too) {
  PhasePlan phase = with_users({{.users = 1, .rows = {2000}}}, {});
  phase.arrivals = {33_ms, 35_ms, 35_ms};
  phase.stop.duration_max = 35_ms;
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Ran ran = after_another(phase, clock, target);
  EXPECT_THAT(sent_at(target, 2000, 2000), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(sent_at(target, 1001, 1003), ElementsAre(53));
  EXPECT_EQ(ran.result.phases[1].stopped, StopReason::duration);
  EXPECT_EQ(ran.result.phases[1].issue_ended, Instant{} + 55_ms);
}

TEST(UsersStop, while_all_wait_the_loop_comes_back_for_the_end_of_their_time) {
  for (const bool most : {false, true}) {
    PhasePlan phase = with_users({{.users = 1, .rows = {2000}}}, {});
    (most ? phase.stop.duration_max : phase.stop.duration_min) = 35_ms;
    phase.stop.drain_max = 10_ms;
    SimClock clock;
    ScriptedTarget target(clock, [](const Query& query) {
      return query.phase == 0 ? in_10_ms(query) : in_an_hour(query);
    });
    const Ran ran = after_another(phase, clock, target);
    EXPECT_EQ(ran.result.phases[1].issue_ended, Instant{} + 55_ms) << most;
    EXPECT_EQ(ran.result.phases[1].stopped, most ? StopReason::duration : StopReason::count);
    EXPECT_EQ(ran.end, Instant{} + 65_ms);
  }
}

TEST(UsersStop, what_the_schedule_has_due_goes_out_after_the_least_time_and_its_lateness_counts) {
  PhasePlan phase = with_users({{.users = 1, .rows = {2000}}}, 6_ms);
  phase.arrivals = {5_ms, 5_ms, 5_ms};
  phase.stop.duration_max = 35_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(query.phase == 0 ? 10_ms : 100_ms)};
  });
  target.at_poll = [&](Instant now) {
    if (now >= Instant{} + 10_ms) target.send_cost = 4_ms;
  };
  const Ran ran = after_another(phase, clock, target);
  // The user at the start, which takes 4 ms, and the schedule from 5 ms on.
  ASSERT_EQ(target.sent.size(), 6U);
  EXPECT_THAT(sent_at(target, 2000, 2000), ElementsAre(20));
  EXPECT_THAT(sent_at(target, 1001, 1003), ElementsAre(25, 29, 33));
  for (std::size_t i = 3; i < 6; ++i) EXPECT_EQ(target.sent[i].due, Instant{} + 25_ms);
  EXPECT_EQ(ran.result.phases[1].stopped, StopReason::count);
  EXPECT_EQ(ran.result.send_lag.max, 8_ms);
  EXPECT_EQ(ran.result.send_lag.count, 6U);
}

TEST(UsersStop, what_is_due_at_the_very_end_of_the_least_time_is_still_sent) {
  PhasePlan phase = with_users({{.users = 1, .rows = {2000}}}, 30_ms);
  phase.arrivals = {30_ms};
  SimClock clock;
  ScriptedTarget target(clock, in_an_hour);
  phase.stop.drain_max = 1_ms;
  phase.order = SampleOrder::listed({1});
  run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(30));
}

TEST(UsersStop, a_count_that_is_reached_leaves_the_schedule_unasked) {
  PhasePlan phase = with_users({{.users = 1, .rows = {2000}}}, {});
  phase.arrivals = {20_ms, 20_ms};
  phase.order = SampleOrder::listed({1, 2});
  phase.stop.queries_max = 3;
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_THAT(sent_at(target, 2000, 2000), ElementsAre(0, 10));
  EXPECT_THAT(sent_at(target, 1, 2), ElementsAre(20)) << "the schedule goes before the user";
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::count);
}

TEST(UsersStop, after_the_least_time_the_loop_waits_for_the_count) {
  PhasePlan phase = with_users({{.users = 1, .rows = {1}}}, 30_ms);
  phase.stop.queries_min = 2;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query&) -> std::vector<Said> { return {end_at(100_ms)}; });
  const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(0, 100));
  ASSERT_GE(target.polls.size(), 3U);
  EXPECT_EQ(target.polls[0].until, Instant{} + 30_ms);
  EXPECT_EQ(target.polls[1].at, Instant{} + 30_ms);
  EXPECT_EQ(target.polls[1].until, Instant{} + 80_ms);
  EXPECT_EQ(target.polls[2].at, Instant{} + 80_ms);
  EXPECT_EQ(ran.result.phases[0].issue_ended, Instant{} + 100_ms);
}

TEST(UsersStop, a_user_that_the_endpoint_holds_back_is_not_late) {
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    if (query.index != 1) return {end_at(10_ms)};
    return {{.arrival = 10_ms, .told = 10_ms, .outcome = Outcome::ok, .retry_after = 100_ms}};
  });
  const Plan plan{.phases = {with_users({{.users = 1, .rows = {1}}}, 125_ms)},
                  .guard = {.honour_retry_after = true}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(0, 10, 120));
  EXPECT_EQ(target.sent[2].due, Instant{} + 20_ms);
  EXPECT_EQ(ran.result.backoffs, 1U);
  EXPECT_EQ(ran.result.backed_off, 100_ms);
  EXPECT_EQ(ran.result.send_lag.max, Duration{});
}

TEST(UsersStop, replies_of_an_earlier_phase_move_no_user) {
  PhasePlan first = with_users({{.users = 2, .rows = {1}}}, 5_ms);
  first.drain = false;
  SimClock clock;
  ScriptedTarget target(clock, in_10_ms);
  const Plan plan{.phases = {first, with_users({{.users = 1, .rows = {2}}}, 25_ms)}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_THAT(sent_at(target, 1, 1), ElementsAre(0, 0));
  EXPECT_THAT(sent_at(target, 2, 2), ElementsAre(5, 15, 25));
  EXPECT_EQ(ran.result.phases[0].completed, 2U);
}

}  // namespace
}  // namespace assay::run
