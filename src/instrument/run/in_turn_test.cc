// Groups in turn, through the loop and on simulated time.
#include "run/in_turn.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/rng.h"
#include "domain/quiet_sink.h"
#include "run/run.h"
#include "run/testing_late_target.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

struct EndSink final : QuietSink {
  void on_done(const Event& event, std::string_view) override { ended.push_back(event); }
  std::vector<Event> ended{};
};

PhasePlan grouped(std::uint32_t group, std::uint64_t queries, Duration least) {
  PhasePlan phase{.name = "performance", .order = SampleOrder::sequential(1000)};
  phase.limits = {{{}, 2 * group}};
  phase.stop.queries_min = queries;
  phase.stop.pass = group;
  phase.stop.duration_min = least;
  return phase;
}

// Query k answers after 1 ms, plus 1 ms for each place in its group of four.
ScriptedTarget four_speeds(SimClock& clock) {
  return {clock, [](const Query& query) {
            return std::vector<Said>{end_at(1_ms * (1 + static_cast<int>(query.index % 4)))};
          }};
}

TEST(InTurn, the_next_group_goes_when_the_slowest_of_the_last_has_ended) {
  SimClock clock;
  ScriptedTarget inner = four_speeds(clock);
  InTurn target(inner, clock, {.phase = 0, .group = 4});
  EndSink sink;
  const RunResult result =
      run(Plan{.phases = {grouped(4, 12, {})}}, clock, target, sink, Control{});
  ASSERT_EQ(inner.sent.size(), 12U);
  for (std::size_t i = 0; i < inner.sent.size(); ++i) {
    const Instant turn = Instant{} + 4_ms * static_cast<int>(i / 4);
    EXPECT_EQ(inner.sent[i].at, turn) << i;
    EXPECT_EQ(inner.sent[i].due, turn) << i;
    EXPECT_EQ(inner.sent[i].query.index, i);
  }
  EXPECT_EQ(result.phases[0].completed, 12U);
}

TEST(InTurn, a_group_of_one_is_due_when_it_is_passed_on) {
  SimClock clock;
  ScriptedTarget inner(clock, in_10_ms);
  InTurn target(inner, clock, {.phase = 0, .group = 1});
  EndSink sink;
  run(Plan{.phases = {grouped(1, 3, {})}}, clock, target, sink, Control{});
  ASSERT_EQ(inner.sent.size(), 3U);
  for (std::size_t i = 0; i < inner.sent.size(); ++i) {
    EXPECT_EQ(inner.sent[i].at, Instant{} + 10_ms * static_cast<int>(i));
    EXPECT_EQ(inner.sent[i].due, inner.sent[i].at);
  }
}

TEST(InTurn, the_last_group_begins_after_the_least_time) {
  SimClock clock;
  ScriptedTarget inner = four_speeds(clock);
  InTurn target(inner, clock, {.phase = 0, .group = 4});
  EndSink sink;
  run(Plan{.phases = {grouped(4, 1, 10_ms)}}, clock, target, sink, Control{});
  // Groups go at 0, 4 and 8 ms, and the one at 12 ms was held when the time was over.
  ASSERT_EQ(inner.sent.size(), 16U);
  EXPECT_EQ(inner.sent.back().at, Instant{} + 12_ms);
}

TEST(InTurn, other_phases_pass_as_they_come) {
  SimClock clock;
  ScriptedTarget inner = four_speeds(clock);
  InTurn target(inner, clock, {.phase = 1, .group = 1});
  EndSink sink;
  PhasePlan before{.kind = PhaseKind::warmup, .name = "warmup"};
  before.limits = {{{}, 3}};
  before.stop.queries_max = 3;
  run(Plan{.phases = {before, grouped(1, 2, {})}}, clock, target, sink, Control{});
  ASSERT_EQ(inner.sent.size(), 5U);
  EXPECT_EQ(inner.sent[2].at, Instant{});
  EXPECT_EQ(inner.sent[3].at, Instant{} + 3_ms);
  EXPECT_EQ(inner.sent[3].due, Instant{} + 3_ms);
  EXPECT_EQ(inner.sent[4].at, Instant{} + 4_ms);
}

TEST(InTurn, a_stop_cancels_what_is_held_and_each_ends_once) {
  SimClock clock;
  ScriptedTarget inner(clock, [](const Query&) { return std::vector<Said>{end_at(1_s)}; });
  InTurn target(inner, clock, {.phase = 0, .group = 2});
  EndSink sink;
  Control control;
  inner.at_poll = [&](Instant now) {
    if (now > Instant{} + 100_ms) control.stop_now();
  };
  const RunResult result = run(Plan{.phases = {grouped(2, 100, {})}}, clock, target, sink, control);
  EXPECT_EQ(inner.sent.size(), 2U);
  ASSERT_EQ(sink.ended.size(), 4U);
  for (const Event& event : sink.ended) EXPECT_EQ(event.outcome, Outcome::cancelled);
  EXPECT_EQ(result.phases[0].failed, 4U);
  EXPECT_EQ(target.in_flight(), 0U);
}

// On a target that answers in any order and returns late: no query of a group is sent before each
// of the group before has ended, all of a group share one due instant, and none is lost.
TEST(InTurn, no_group_overtakes_another_whatever_the_order_of_replies) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    SpinningClock clock(rng.below(2) == 0 ? Duration{} : 150_us);
    LateTarget inner(clock, seed, 3_ms, 20_us);
    const auto group = static_cast<std::uint32_t>(1 + rng.below(9));
    InTurn target(inner, clock, {.phase = 0, .group = group});
    EndSink sink;
    const std::uint64_t groups = 1 + rng.below(20);
    const RunResult result =
        run(Plan{.phases = {grouped(group, groups * group, {})}}, clock, target, sink, Control{});
    EXPECT_EQ(result.phases[0].issued, groups * group);
    std::map<std::uint32_t, Instant> due;
    std::uint64_t ended = 0;
    for (const Step& step : inner.steps) {
      if (step.ended) ++ended;
      if (!step.submitted) continue;
      const std::uint32_t at = step.submitted->query.index / group;
      EXPECT_GE(ended, std::uint64_t{at} * group);
      EXPECT_EQ(due.emplace(at, step.submitted->due).first->second, step.submitted->due);
      EXPECT_GE(step.submitted->at, step.submitted->due);
    }
    EXPECT_EQ(due.size(), groups);
  }
}

// LoadGen counts a test's time to the issue of its last query. The loop may see the least time pass
// at any moment between a reply and the next query.
TEST(InTurn, the_last_group_begins_after_the_least_time_however_late_the_loop_is) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    SpinningClock clock(rng.below(2) == 0 ? Duration{} : 150_us);
    LateTarget inner(clock, seed, 3_ms, 2_ms);
    const auto group = static_cast<std::uint32_t>(1 + rng.below(9));
    InTurn target(inner, clock, {.phase = 0, .group = group});
    EndSink sink;
    const Duration least =
        1_us * static_cast<int>(1 + rng.below(rng.below(2) == 0 ? 3'000 : 200'000));
    run(Plan{.phases = {grouped(group, 1, least)}}, clock, target, sink, Control{});
    std::vector<Instant> due;
    for (const Step& step : inner.steps) {
      if (step.submitted) due.push_back(step.submitted->due);
    }
    ASSERT_EQ(due.size() % group, 0U);
    EXPECT_GE(due.back(), Instant{} + least);
    // At most the group that was held then and the one after it.
    if (due.size() <= std::size_t{2} * group) continue;
    EXPECT_LT(due[due.size() - std::size_t{2} * group - 1], Instant{} + least);
  }
}

// Ten queries, one a millisecond, which take 4 ms each; the fourth and the fifth wait for those
// before them.
TEST(InTurn, a_barrier_holds_queries_until_all_before_it_have_ended) {
  SimClock clock;
  ScriptedTarget inner(clock, [](const Query&) { return std::vector<Said>{end_at(4_ms)}; });
  InTurn target(inner, clock, {.phase = 0, .barriers = {3, 4}});
  EndSink sink;
  PhasePlan phase{.name = "performance", .order = SampleOrder::sequential(10), .open_loop = true};
  for (int i = 0; i < 10; ++i) phase.arrivals.push_back(1_ms * i);
  const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  ASSERT_EQ(inner.sent.size(), 10U);
  // 0, 1, 2 go when they are due, the fourth at 2 + 4 ms, the fifth 4 ms later with the others.
  for (std::size_t i = 0; i < 10; ++i) {
    const Instant due = Instant{} + 1_ms * static_cast<int>(i);
    EXPECT_EQ(inner.sent[i].due, due) << i;
    const Instant held = Instant{} + (i < 3 ? Duration{} : i == 3 ? 6_ms : 10_ms);
    EXPECT_EQ(inner.sent[i].at, std::max(due, held)) << i;
  }
  EXPECT_EQ(result.phases[0].completed, 10U);
}

TEST(InTurn, no_query_passes_a_barrier_whatever_the_order_of_replies) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    SpinningClock clock(rng.below(2) == 0 ? Duration{} : 150_us);
    LateTarget inner(clock, seed, 3_ms, 20_us);
    const auto queries = static_cast<std::uint32_t>(1 + rng.below(200));
    std::vector<std::uint32_t> barriers;
    for (std::uint32_t at = 1; at < queries; ++at) {
      if (rng.below(9) == 0) barriers.push_back(at);
    }
    if (barriers.empty()) barriers.push_back(queries);
    InTurn target(inner, clock, {.phase = 0, .barriers = barriers});
    EndSink sink;
    PhasePlan phase{.name = "performance", .order = SampleOrder::sequential(9), .open_loop = true};
    Duration due{};
    for (std::uint32_t i = 0; i < queries; ++i) {
      phase.arrivals.push_back(due);
      due += 1_us * static_cast<int>(rng.below(2000));
    }
    phase.limits = {{{}, static_cast<std::uint32_t>(1 + rng.below(40))}};
    const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
    EXPECT_EQ(result.phases[0].issued, queries);
    std::uint64_t ended = 0;
    std::uint64_t sent = 0;
    for (const Step& step : inner.steps) {
      if (step.ended) ++ended;
      if (!step.submitted) continue;
      EXPECT_EQ(step.submitted->query.index, sent++);
      const auto above = std::ranges::upper_bound(barriers, step.submitted->query.index);
      if (above != barriers.begin()) {
        EXPECT_GE(ended, *(above - 1));
      }
    }
    EXPECT_EQ(sent, queries);
  }
}

TEST(InTurn, a_group_whose_queries_come_one_by_one_counts_those_that_are_under_way) {
  SimClock clock;
  ScriptedTarget inner(clock, in_10_ms);
  InTurn target(inner, clock, {.phase = 0, .group = 4});
  EndSink sink;
  for (std::uint32_t index = 0; index < 4; ++index) {
    target.submit({.index = index}, clock.now(), sink);
    EXPECT_EQ(target.in_flight(), 1U) << index;
    target.poll(clock.now() + 10_ms, sink);
    EXPECT_EQ(target.in_flight(), 0U) << index;
  }
  EXPECT_EQ(sink.ended.size(), 4U);
  // The next group waits for a poll, which passes its first query on; the others join that one.
  target.submit({.index = 4}, clock.now(), sink);
  EXPECT_EQ(inner.sent.size(), 4U);
  EXPECT_EQ(target.in_flight(), 1U);
  target.poll(clock.now(), sink);
  for (std::uint32_t index = 5; index < 8; ++index) {
    EXPECT_EQ(inner.sent.size(), index);
    target.submit({.index = index}, clock.now(), sink);
  }
  EXPECT_EQ(inner.sent.size(), 8U);
}

// A target that ends the first query as it is submitted, and no other.
struct EndsTheFirst final : Target {
  void submit(const Query& query, Instant due, EventSink& sink) override {
    if (query.index > 0) {
      ++under_way;
    } else {
      sink.on_done(Event{.query = query, .outcome = Outcome::connect_failed, .due = due}, "");
    }
  }
  void poll(Instant, EventSink&) override {}
  std::size_t in_flight() const override { return under_way; }
  void cancel_all(EventSink&) override {}
  std::size_t under_way = 0;
};

TEST(InTurn, a_query_that_ends_as_it_is_submitted_is_none_of_the_next_group) {
  SimClock clock;
  EndsTheFirst inner;
  InTurn target(inner, clock, {.phase = 0, .group = 1});
  EndSink sink;
  target.submit({.index = 0}, clock.now(), sink);
  target.poll(clock.now(), sink);
  EXPECT_EQ(target.in_flight(), 0U);
  target.submit({.index = 1}, clock.now(), sink);
  target.poll(clock.now(), sink);
  EXPECT_EQ(target.in_flight(), 1U);
  EXPECT_EQ(inner.under_way, 1U) << "it was its turn";
}

TEST(InTurn, a_rule_without_groups_asks_for_nothing) {
  EXPECT_FALSE(InTurnRule{}.asks());
  EXPECT_TRUE(InTurnRule{.group = 1}.asks());
  EXPECT_TRUE(InTurnRule{.barriers = {3}}.asks());
}

}  // namespace
}  // namespace assay::run
