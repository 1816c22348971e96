// The rules of the loop against a slow twin: random plans, on a target that answers in any order,
// returns late from polls and is slow to send. The twin does not simulate the loop. It reads the
// recorded calls and computes from the definitions what must have happened: which instant each
// query was due at, since when it could have gone, how late it went.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "run/run.h"
#include "run/testing_late_target.h"

namespace assay::run {
namespace {

struct Lags {
  std::uint64_t count = 0;
  Duration max{};
  void add(Duration lag) {
    ++count;
    max = std::max(max, lag);
  }
};

std::uint32_t limit_at(const PhasePlan& phase, Duration since_start) {
  std::uint32_t limit = 0;
  for (const LimitStep& step : phase.limits) {
    if (step.at <= since_start) limit = step.in_flight_max;
  }
  return limit;
}

// The first instant from which until now one more query would always have had a place under the
// limit; none() if it had one already when the loop last waited. By the definition: count and
// compare at every instant at which the state changed since then.
Instant place_since(const PhasePlan& phase, Instant started, const std::vector<Step>& steps,
                    std::size_t at) {
  const Submitted& query = *steps[at].submitted;
  Instant looked = started;
  std::vector<Instant> ends;
  for (std::size_t i = at; i-- > 0;) {
    if (steps[i].ended) ends.push_back(steps[i].ended->released);
    if (steps[i].polled && !steps[i].polled->between_sends) {
      looked = steps[i].polled->at;
      break;
    }
  }
  std::vector<Instant> changes = ends;
  for (const LimitStep& step : phase.limits) {
    const Instant raised = started + step.at;
    if (raised > looked && raised <= query.at) changes.push_back(raised);
  }
  std::ranges::sort(changes, std::greater<>());
  Instant since = Instant::none();
  for (const Instant change : changes) {
    const auto later = std::ranges::count_if(ends, [&](Instant end) { return end > change; });
    const std::size_t in_flight = query.in_flight + static_cast<std::size_t>(later);
    if (in_flight >= limit_at(phase, change - started)) return since;
    since = change;
  }
  // A query that ended before the loop waited and was reported later freed its slot at its end.
  const bool full = query.in_flight + ends.size() >= limit_at(phase, looked - started);
  return full ? since : Instant::none();
}

struct Twin {
  const PhasePlan& phase;
  Instant started;
  Duration spin;
  Lags lags{};
  std::uint64_t issued = 0;
  int in_a_row = 0;                // queries since the loop last called poll()
  Instant back = Instant::none();  // the endpoint asked the client to wait until then
};

// The expected due instant, order and lag of a query.
void check_submit(Twin& twin, const std::vector<Step>& steps, std::size_t at) {
  const Submitted& query = *steps[at].submitted;
  const PhasePlan& phase = twin.phase;
  const Duration elapsed = query.at - twin.started;
  const std::uint32_t limit = limit_at(phase, elapsed);
  EXPECT_LT(query.in_flight, limit);
  EXPECT_LT(elapsed, phase.stop.duration_max);
  EXPECT_LT(twin.issued, phase.stop.queries_max);
  EXPECT_LE(query.due, query.at);
  EXPECT_EQ(query.query.index, twin.issued);
  EXPECT_GE(query.at, twin.back);
  EXPECT_LE(++twin.in_a_row, 32) << "sending kept receiving from its share";
  Instant ready = query.due;
  const Instant place = place_since(phase, twin.started, steps, at);
  if (phase.open_loop) {
    ASSERT_LT(twin.issued, phase.arrivals.size());
    EXPECT_EQ(query.due, twin.started + phase.arrivals[twin.issued]);
    if (place.known()) ready = std::max(ready, place);
  } else if (place.known()) {
    EXPECT_EQ(query.due, std::max(twin.started, place));
  } else {
    EXPECT_EQ(query.due, query.at);
  }
  twin.lags.add(query.at - std::max(ready, twin.back));
  ++twin.issued;
}

// While a query may go, the loop does not sleep; and it wakes in time for the next.
void check_poll(const Twin& twin, const Polled& poll, std::size_t in_flight, bool issuing) {
  EXPECT_LE(poll.until, std::max(poll.at, poll.at + 50_ms));
  if (poll.between_sends) {
    EXPECT_LE(poll.until, poll.at);
    return;
  }
  if (!issuing) {
    EXPECT_EQ(poll.until, poll.at + 50_ms) << "while it drains it only waits";
    return;
  }
  const PhasePlan& phase = twin.phase;
  const Duration elapsed = poll.at - twin.started;
  if (elapsed >= phase.stop.duration_max || twin.issued >= phase.stop.queries_max) return;
  // The instants for which it must return.
  Instant next = twin.started + phase.stop.duration_max;
  for (const LimitStep& step : phase.limits) {
    if (step.at > elapsed) next = std::min(next, twin.started + step.at);
  }
  EXPECT_LE(poll.until, next);
  const bool full = in_flight >= limit_at(phase, elapsed);
  const bool asked_away = twin.back > poll.at;
  if (phase.open_loop) {
    if (twin.issued >= phase.arrivals.size()) return;
    const Instant due = twin.started + phase.arrivals[twin.issued];
    const bool last_step = phase.limits.back().at <= elapsed;
    if (full && due <= poll.at && last_step && !asked_away) {
      EXPECT_EQ(poll.until, std::min(next, poll.at + 50_ms)) << "only a reply makes a place";
    }
    if (asked_away && due <= poll.at) {
      EXPECT_LE(poll.until, twin.back);
    }
    if ((full || asked_away) && due <= poll.at) return;
    EXPECT_GT(due, poll.at) << "it slept while a query was due and had a place";
    if (twin.spin == Duration::max()) {
      EXPECT_EQ(poll.until, poll.at) << "it was told never to sleep";
    } else {
      EXPECT_LE(poll.until, std::max(poll.at, due - twin.spin));
      if (std::min(due, next) - poll.at > twin.spin) {
        EXPECT_GT(poll.until, poll.at) << "it looked long before the send";
      }
    }
  } else {
    EXPECT_TRUE(full || asked_away) << "it slept while a slot was free";
    if (asked_away && !full) {
      EXPECT_LE(poll.until, twin.back);
    }
    EXPECT_GT(poll.until, poll.at) << "it looked though no send follows";
  }
}

Duration drawn(Rng& rng, double mean_s, Duration grain) {
  return grain * (Duration::from_seconds(rng.exponential(mean_s)).ns / grain.ns);
}

// All its instants are multiples of `grain`.
PhasePlan random_phase(Rng& rng, Duration grain) {
  PhasePlan phase{.name = "performance", .order = SampleOrder::shuffled(5, 42)};
  phase.open_loop = rng.below(2) == 0;
  // Some limits are above the number of sends between two polls.
  const bool wide = rng.below(4) == 0;
  const std::uint64_t count = 1 + rng.below(wide ? 300 : 80);
  Duration at{};
  for (std::uint64_t k = 0; phase.open_loop && k < count; ++k) {
    if (rng.below(4) != 0) at += drawn(rng, 0.002, grain);
    phase.arrivals.push_back(at);
  }
  phase.limits = {{{}, static_cast<std::uint32_t>(1 + rng.below(wide ? 100 : 8))}};
  Duration step{};
  for (std::uint64_t k = rng.below(3); k-- > 0;) {
    step += drawn(rng, 0.03, grain) + grain;
    phase.limits.push_back({step, static_cast<std::uint32_t>(1 + rng.below(wide ? 120 : 12))});
  }
  if (phase.open_loop && rng.below(4) == 0) phase.limits = {LimitStep{}};
  phase.stop.queries_max = rng.below(2) == 0 ? count : 1 + rng.below(count);
  if (rng.below(3) == 0) phase.stop.duration_max = drawn(rng, 0.1, grain);
  return phase;
}

StopReason reason_of(const PhasePlan& phase, std::uint64_t issued, Duration elapsed) {
  if (phase.open_loop && issued == phase.arrivals.size()) return StopReason::schedule;
  return elapsed >= phase.stop.duration_max ? StopReason::duration : StopReason::count;
}

void compare_with_twin(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  Rng rng(seed);
  // On a coarse grid many events share one instant, while the target is punctual.
  const bool coarse = rng.below(3) == 0;
  const Duration grain = coarse ? 1_ms : 1_ns;
  const PhasePlan phase = random_phase(rng, grain);
  const bool late = rng.below(3) != 0;
  const GuardRule guard{.honour_retry_after = rng.below(3) == 0};
  const Duration window = std::array{Duration{}, 150_us, 2_ms, Duration::max()}[rng.below(4)];
  SpinningClock clock(window);
  LateTarget target(clock, seed, late ? 3_ms : Duration{}, late && !coarse ? 20_us : Duration{},
                    window == Duration{} ? Duration{} : 10_us, grain,
                    rng.below(2) == 0 ? Duration{} : 20_ms);
  NoSink sink;
  const Plan plan{.phases = {phase}, .guard = guard};
  const RunResult result = run(plan, clock, target, sink, Control{});
  const PhaseResult& ran = result.phases[0];
  Twin twin{.phase = phase, .started = ran.started, .spin = clock.spin_window()};
  std::size_t in_flight = 0;
  std::uint64_t ok = 0;
  for (std::size_t i = 0; i < target.steps.size(); ++i) {
    const Step& step = target.steps[i];
    if (step.submitted) {
      EXPECT_EQ(step.submitted->in_flight, in_flight++);
      check_submit(twin, target.steps, i);
    } else if (step.ended) {
      --in_flight;
      if (step.ended->ok) ++ok;
      if (guard.honour_retry_after) twin.back = std::max(twin.back, step.ended->back);
    } else {
      twin.in_a_row = 0;
      check_poll(twin, *step.polled, in_flight, step.polled->at < ran.issue_ended);
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(ran.issued, twin.issued);
  EXPECT_EQ(ran.completed, ok);
  EXPECT_EQ(ran.failed, twin.issued - ok);
  EXPECT_EQ(ran.stopped, reason_of(phase, twin.issued, ran.issue_ended - ran.started));
  EXPECT_EQ(result.send_lag.count, twin.lags.count);
  EXPECT_EQ(result.send_lag.max, twin.lags.max);
}

TEST(RunRules, dues_lags_and_sleeps_are_those_of_the_definitions_whatever_the_plan) {
  for (std::uint64_t seed = 0; seed < 1000 && !HasFailure(); ++seed) compare_with_twin(seed);
}

}  // namespace
}  // namespace assay::run
