// What stops a run from outside the plan: a request, the guard, a Retry-After. When exactly it
// stops, what is cancelled, and what the result reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "run/run.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

using testing::ElementsAre;

// Sends a stop request as the first poll at or after each of `at_ms` begins.
Ran interrupted_run(const Plan& plan, std::vector<std::int64_t> at_ms,
                    ScriptedTarget::Script script, Instant* cancelled_at) {
  SimClock clock;
  ScriptedTarget target(clock, std::move(script));
  Control control;
  std::size_t asked = 0;
  target.at_poll = [&](Instant now) {
    while (asked < at_ms.size() && now >= Instant{} + 1_ms * at_ms[asked]) {
      control.ask_to_stop();
      ++asked;
    }
  };
  Ran out;
  out.result = run(plan, clock, target, out.sink, control);
  out.end = clock.now();
  *cancelled_at = target.cancelled_at;
  return out;
}

TEST(RunStops, asked_to_stop_while_it_drains_it_says_so_and_begins_no_other_phase) {
  const auto slow = [](const Query&) { return std::vector<Said>{end_at(200_ms)}; };
  const Plan plan{.phases = {slots(3, 3), slots(1, 1)}};
  Instant cancelled_at{};
  const Ran once = interrupted_run(plan, {50}, slow, &cancelled_at);
  EXPECT_TRUE(once.result.interrupted);
  ASSERT_EQ(once.result.phases.size(), 1U);
  EXPECT_EQ(once.result.phases[0].stopped, StopReason::interrupted);
  EXPECT_EQ(once.result.phases[0].completed, 3U);
  EXPECT_TRUE(once.result.phases[0].drained);
  EXPECT_FALSE(cancelled_at.known());
  EXPECT_EQ(once.end, Instant{} + 200_ms);
  // The second request ends the queries in flight, at the next check.
  const Ran twice = interrupted_run(plan, {50, 100}, slow, &cancelled_at);
  EXPECT_EQ(cancelled_at, Instant{} + 150_ms);
  EXPECT_FALSE(twice.result.phases[0].drained);
  EXPECT_EQ(twice.result.phases[0].failed, 3U);
}

TEST(RunStops, asked_to_stop_while_it_sends_it_sends_no_more) {
  Instant cancelled_at{};
  const Ran ran = interrupted_run(Plan{.phases = {slots(1, 100)}}, {30}, in_10_ms, &cancelled_at);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::interrupted);
  EXPECT_EQ(ran.result.phases[0].issued, 4U);
  EXPECT_EQ(ran.result.phases[0].completed, 4U);
  EXPECT_FALSE(ran.result.target_dead);
}

TEST(RunStops, stopping_at_once_is_as_asking_twice_and_asking_again_changes_nothing) {
  Control control;
  EXPECT_EQ(control.request(), Control::Request::none);
  control.ask_to_stop();
  EXPECT_EQ(control.request(), Control::Request::drain);
  for (int i = 0; i < 5; ++i) {
    control.ask_to_stop();
    EXPECT_EQ(control.request(), Control::Request::stop);
  }
  Control at_once;
  at_once.stop_now();
  EXPECT_EQ(at_once.request(), Control::Request::stop);
}

TEST(RunStops, a_drain_is_given_up_at_the_very_instant_of_its_limit) {
  PhasePlan phase = slots(2, 2);
  phase.stop.drain_max = 130_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    return {end_at(query.index == 0 ? 130_ms : 131_ms)};
  });
  const Ran ran = run_scripted(Plan{.phases = {phase}}, clock, target);
  EXPECT_EQ(target.cancelled_at, Instant{} + 130_ms);
  EXPECT_EQ(ran.result.phases[0].completed, 1U);
  EXPECT_EQ(ran.result.phases[0].failed, 1U);
  EXPECT_FALSE(ran.result.target_dead || ran.result.interrupted || ran.result.guarded);
}

// Tests of a run that the guard stops.

TEST(RunStops, a_verdict_while_the_run_drains_stops_it_and_cancels_what_failing_needs_not) {
  // Two of four fail at 20 ms, when all are issued; the others would take a second.
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    if (query.index < 2) return {end_at(20_ms, Outcome::reset)};
    return {end_at(1_s)};
  });
  const Plan plan{.phases = {slots(4, 4), slots(1, 1)}, .guard = {.failures_max = 1}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_TRUE(ran.result.guarded);
  ASSERT_EQ(ran.result.phases.size(), 1U);
  EXPECT_EQ(ran.result.phases[0].stopped, StopReason::failures);
  EXPECT_FALSE(ran.result.phases[0].drained);
  EXPECT_EQ(target.cancelled_at, Instant{} + 20_ms);
}

// The first two answers, at 20 ms, show that the next query would exceed the budget.
Ran budget_run(std::vector<LimitStep> limits, SimClock& clock, ScriptedTarget** target_out,
               std::vector<Duration> arrivals = {}) {
  static std::optional<ScriptedTarget> target;
  target.emplace(clock, [](const Query& query) -> std::vector<Said> {
    const Usage usage{.prompt_tokens = 10, .completion_tokens = 40};
    const Duration at = query.index < 2 ? 20_ms : 1_s;
    return {{.arrival = at, .told = at, .outcome = Outcome::ok, .usage = usage}};
  });
  *target_out = &*target;
  PhasePlan phase = slots(1, 4);
  phase.limits = std::move(limits);
  phase.open_loop = !arrivals.empty();
  phase.arrivals = std::move(arrivals);
  return run_scripted(Plan{.phases = {phase}, .guard = {.tokens_max = 110}}, clock, *target);
}

TEST(RunStops, a_budget_lets_what_is_in_flight_end_unless_the_last_limit_is_none) {
  SimClock clock;
  ScriptedTarget* target = nullptr;
  const Ran kept = budget_run({{{}, 4}}, clock, &target);
  EXPECT_EQ(kept.result.phases[0].stopped, StopReason::budget);
  EXPECT_EQ(kept.result.phases[0].completed, 4U);
  EXPECT_TRUE(kept.result.phases[0].drained);
  SimClock other;
  const Ran burst = budget_run({LimitStep{}}, other, &target);
  EXPECT_EQ(burst.result.phases[0].stopped, StopReason::budget);
  EXPECT_EQ(burst.result.phases[0].completed, 2U);
  EXPECT_EQ(target->cancelled_at, Instant{} + 20_ms);
  SimClock third;
  const Ran opened = budget_run({{{}, 4}, {.at = 1_ms}}, third, &target);
  EXPECT_EQ(opened.result.phases[0].completed, 2U) << "a burst from its last step on";
}

TEST(RunStops, shards_tell_their_own_cells_of_one_guard) {
  const GuardRule rule{.failures_max = 6};
  PhasePlan phase = slots(2, 100);
  phase.stop.queries_max = 8;
  const Plan plan{.phases = {phase}, .guard = rule};
  Guard guard(rule, 2);
  std::vector<std::uint64_t> failed;
  for (const std::uint32_t index : {0U, 1U}) {
    SimClock clock;
    ScriptedTarget target(
        clock, [](const Query&) -> std::vector<Said> { return {end_at(10_ms, Outcome::reset)}; });
    HeardSink sink;
    const RunResult result = run(shard(plan, index, 2), clock, target, sink, Control{}, &guard);
    EXPECT_EQ(result.guarded, index == 1);
    failed.push_back(result.phases[0].failed);
  }
  EXPECT_THAT(failed, ElementsAre(4, 3)) << "the seventh failure is one too many";
  EXPECT_FALSE(guard.reason().empty());
}

// Tests with a Retry-After.

Said refused_for(Duration at, Duration retry_after) {
  return {.arrival = at, .told = at, .outcome = Outcome::http_error, .retry_after = retry_after};
}

std::vector<std::int64_t> sent_ms(const ScriptedTarget& target) {
  std::vector<std::int64_t> out;
  for (const ScriptedTarget::Sent& one : target.sent) out.push_back(one.at.ns / 1'000'000);
  return out;
}

TEST(RunStops, back_offs_are_counted_one_by_one_and_their_times_together) {
  const auto script = [](const Query& query) -> std::vector<Said> {
    if (query.index == 1) return {refused_for(10_ms, 100_ms)};
    if (query.index == 3) return {refused_for(10_ms, 30_ms)};
    return {end_at(10_ms)};
  };
  const GuardRule guard{.honour_retry_after = true};
  SimClock clock;
  ScriptedTarget closed(clock, script);
  const Ran one = run_scripted(Plan{.phases = {slots(1, 6)}, .guard = guard}, clock, closed);
  EXPECT_THAT(sent_ms(closed), ElementsAre(0, 10, 120, 130, 170, 180));
  EXPECT_EQ(one.result.backoffs, 2U);
  EXPECT_EQ(one.result.backed_off, 130_ms);
  EXPECT_EQ(one.result.send_lag.max, Duration{});
  // With a schedule, only the time counts in which a due query was held back.
  SimClock other;
  ScriptedTarget open(other, script);
  const Plan plan{.phases = {schedule({0_ms, 10_ms, 40_ms, 50_ms, 180_ms, 190_ms})},
                  .guard = guard};
  const Ran two = run_scripted(plan, other, open);
  EXPECT_THAT(sent_ms(open), ElementsAre(0, 10, 120, 120, 180, 190));
  EXPECT_EQ(two.result.backoffs, 1U) << "the second asked for a time in which none was due";
  EXPECT_EQ(two.result.backed_off, 80_ms);
}

TEST(RunStops, a_back_off_that_lasts_to_the_end_of_its_phase_is_counted_to_that_end) {
  PhasePlan phase = slots(1, 100);
  phase.stop.duration_max = 300_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) {
    return query.phase == 0 ? in_10_ms(query) : std::vector<Said>{refused_for(10_ms, 3600_s)};
  });
  const Plan plan{.phases = {slots(1, 1), phase}, .guard = {.honour_retry_after = true}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_EQ(ran.result.phases[1].issued, 1U);
  EXPECT_EQ(ran.result.backoffs, 1U);
  EXPECT_EQ(ran.result.backed_off, 290_ms);
}

TEST(RunStops, a_back_off_ends_with_its_phases_sends_though_replies_still_come) {
  PhasePlan phase = slots(2, 100);
  phase.stop.duration_max = 300_ms;
  SimClock clock;
  ScriptedTarget target(clock, [](const Query& query) -> std::vector<Said> {
    if (query.index == 0) return {refused_for(10_ms, 3600_s)};
    return {end_at(500_ms)};
  });
  const Plan plan{.phases = {phase}, .guard = {.honour_retry_after = true}};
  const Ran ran = run_scripted(plan, clock, target);
  EXPECT_EQ(ran.result.phases[0].issued, 2U);
  EXPECT_EQ(ran.result.phases[0].ended - ran.result.phases[0].issue_ended, 200_ms);
  EXPECT_EQ(ran.result.backed_off, 290_ms);
}

}  // namespace
}  // namespace assay::run
