// Groups in turn, through the loop and on simulated time.
#include "run/in_turn.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/rng.h"
#include "run/run.h"
#include "run/testing_late_target.h"
#include "run/testing_scripted_target.h"

namespace assay::run {
namespace {

struct EndSink final : EventSink {
  void on_phase(const PhaseMark&) override {}
  void on_sent(const Query&, Instant, Instant) override {}
  void on_stream_event(const Query&, const StreamEvent&, std::string_view) override {}
  void on_tick(Instant) override {}
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

}  // namespace
}  // namespace assay::run
