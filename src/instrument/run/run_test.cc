#include "run/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "base/rng.h"
#include "domain/quiet_sink.h"

namespace assay::run {
namespace {

// A target that answers each query `service` after its submission, or never; a seed gives the
// faults.
class TestTarget final : public Target {
 public:
  TestTarget(Clock& clock, Duration service) : clock_(clock), service_(service) {}

  void submit(const Query& query, Instant due, EventSink& sink) override {
    const Instant now = clock_.now();
    submitted.push_back({query, due, now});
    peak = std::max(peak, ++in_flight_);
    sink.on_sent(query, due, now);
    pending_.push_back({query, due, now});
    if (stall_at != 0 && submitted.size() == stall_at) clock_.sleep_until(now + 50_ms);
  }
  void poll(Instant until, EventSink& sink) override {
    ++polls;
    const bool dead = answers_max <= answered_;
    Instant wake = until;
    if (!pending_.empty() && !dead) wake = std::min(until, pending_.front().sent + service_);
    clock_.sleep_until(wake);
    while (!pending_.empty() && !dead && pending_.front().sent + service_ <= clock_.now()) {
      const Sent sent = pending_.front();
      pending_.pop_front();
      ++answered_;
      --in_flight_;
      Event event{.query = sent.query, .due = sent.due, .sent = sent.sent};
      event.done = sent.sent + service_ - held_back;
      event.released = sent.sent + service_;
      if (fail) event.outcome = Outcome::connect_failed;
      sink.on_done(event, "");
    }
  }
  std::size_t in_flight() const override { return in_flight_; }
  void cancel_all(EventSink& sink) override {
    for (const Sent& sent : pending_) {
      --in_flight_;
      sink.on_done(Event{.query = sent.query, .outcome = Outcome::cancelled, .due = sent.due}, "");
    }
    pending_.clear();
  }

  struct Sent {
    Query query{};
    Instant due{};
    Instant sent{};
  };
  std::vector<Sent> submitted{};
  std::size_t peak = 0;
  std::size_t stall_at = 0;
  std::size_t answers_max = static_cast<std::size_t>(-1);
  int polls = 0;
  bool fail = false;
  Duration held_back{};  // how long before a query's end its reply is complete

 private:
  Clock& clock_;
  Duration service_;
  std::deque<Sent> pending_{};
  std::size_t in_flight_ = 0;
  std::size_t answered_ = 0;
};

class CountingSink final : public QuietSink {
 public:
  void on_phase(const PhaseMark& mark) override { marks.push_back(mark); }
  void on_sent(const Query&, Instant, Instant) override { ++sent; }
  void on_tick(Instant now) override { ticks.push_back(now); }
  void on_done(const Event& event, std::string_view) override {
    ++done[event.query.index];
    if (interrupt != nullptr && ++ended == interrupt_after) interrupt->ask_to_stop();
    if (interrupt != nullptr && interrupt_twice) interrupt->ask_to_stop();
  }
  std::vector<PhaseMark> marks{};
  std::vector<Instant> ticks{};
  std::map<std::uint32_t, int> done{};
  int sent = 0;
  int ended = 0;
  Control* interrupt = nullptr;
  int interrupt_after = 0;
  bool interrupt_twice = false;
};

PhasePlan closed(std::uint32_t concurrency) {
  PhasePlan phase{.name = "performance", .order = SampleOrder::shuffled(5, 42)};
  phase.limits = {{{}, concurrency}};
  return phase;
}

TEST(Run, a_closed_loop_keeps_the_slots_full_and_stops_at_the_count) {
  PhasePlan phase = closed(4);
  phase.stop.queries_max = 22;
  SimClock clock;
  TestTarget target(clock, 10_ms);
  CountingSink sink;
  const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  ASSERT_EQ(result.phases.size(), 1U);
  EXPECT_EQ(result.phases[0].issued, 22U);
  EXPECT_EQ(result.phases[0].completed, 22U);
  EXPECT_EQ(result.phases[0].stopped, StopReason::count);
  EXPECT_EQ(target.peak, 4U);
  EXPECT_EQ(clock.now(), Instant{} + 60_ms);  // ceil(22 / 4) rounds of 10 ms
}

TEST(Run, enough_is_enough_at_the_very_instant_and_at_the_very_count) {
  const auto issued = [](Duration duration_min, std::uint64_t queries_min) {
    PhasePlan phase = closed(4);
    phase.stop.duration_min = duration_min;
    phase.stop.queries_min = queries_min;
    SimClock clock;
    TestTarget target(clock, 10_ms);
    CountingSink sink;
    const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
    EXPECT_EQ(result.phases[0].stopped, StopReason::count);
    return result.phases[0].issued;
  };
  EXPECT_EQ(issued(100_ms, 0), 40U);  // ten rounds of four: at 100 ms it has enough
  EXPECT_EQ(issued(95_ms, 0), 40U);
  EXPECT_EQ(issued({}, 22), 22U);
  EXPECT_EQ(issued(20_ms, 22), 22U);  // both conditions must hold
  EXPECT_EQ(issued(100_ms, 22), 40U);
}

TEST(Run, sinks_are_called_every_50_ms_and_at_the_very_end) {
  PhasePlan phase = closed(4);
  phase.stop.queries_max = 404;
  SimClock clock;
  TestTarget target(clock, 10_ms);
  CountingSink sink;
  run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  ASSERT_EQ(clock.now(), Instant{} + 1010_ms);
  ASSERT_GE(sink.ticks.size(), 11U);
  EXPECT_LE(sink.ticks.size(), 23U);  // no more often than that
  EXPECT_EQ(sink.ticks.back(), clock.now());
  for (std::size_t i = 1; i < sink.ticks.size(); ++i) {
    EXPECT_LE(sink.ticks[i] - sink.ticks[i - 1], 100_ms);
  }
}

// The slots were free while the phase before drained, and no query of this phase waited for them.
TEST(Run, a_stream_that_ends_after_its_reply_makes_no_send_late) {
  PhasePlan phase = closed(2);
  phase.stop.queries_max = 10;
  SimClock clock;
  TestTarget target(clock, 50_ms);
  target.held_back = 20_ms;
  CountingSink sink;
  const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  EXPECT_EQ(result.phases[0].completed, 10U);
  EXPECT_EQ(result.send_lag.max, Duration{});
  for (const TestTarget::Sent& sent : target.submitted) EXPECT_EQ(sent.due, sent.sent);
}

TEST(Run, nothing_is_due_before_its_phase) {
  PhasePlan phase = closed(4);
  phase.stop.queries_max = 22;
  SimClock clock;
  TestTarget target(clock, 10_ms);
  CountingSink sink;
  const RunResult result = run(Plan{.phases = {phase, phase}}, clock, target, sink, Control{});
  ASSERT_EQ(target.submitted.size(), 44U);
  for (std::size_t i = 22; i < 44; ++i) {
    EXPECT_GE(target.submitted[i].due, result.phases[1].started) << i;
    EXPECT_EQ(target.submitted[i].due, target.submitted[i].sent) << i;
  }
  EXPECT_EQ(result.send_lag.max, Duration{});
}

TEST(Run, when_the_time_is_over_no_phase_that_minds_it_is_begun) {
  SimClock clock;
  TestTarget target(clock, 10_ms);
  CountingSink sink;
  Plan plan;
  // A warm-up does not count. Blocks of 100 ms in pairs: the third pair would begin at 400 ms.
  for (int i = 0; i < 9; ++i) {
    PhasePlan phase{.kind = i == 0 ? PhaseKind::warmup : PhaseKind::performance};
    phase.limits = {{{}, 1}};
    phase.stop.queries_min = phase.stop.queries_max = 10;
    if (i % 2 == 1) phase.begin_max = 350_ms;
    plan.phases.push_back(phase);
  }
  const RunResult result = run(plan, clock, target, sink, Control{});
  ASSERT_EQ(result.phases.size(), 5U);
  EXPECT_EQ(target.submitted.size(), 50U);
  EXPECT_FALSE(result.interrupted);
}

TEST(Run, a_slow_target_does_not_delay_the_next_query) {
  PhasePlan phase{.order = SampleOrder::sequential(3)};
  phase.open_loop = true;
  for (int i = 0; i < 100; ++i) phase.arrivals.push_back(1_ms * i);
  SimClock clock;
  TestTarget target(clock, 10_s);
  CountingSink sink;
  run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  ASSERT_EQ(target.submitted.size(), 100U);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(target.submitted[static_cast<std::size_t>(i)].sent, Instant{} + 1_ms * i);
  }
}

TEST(Run, a_cap_delays_the_sending_and_never_the_due_instant) {
  PhasePlan phase{.order = SampleOrder::sequential(3)};
  phase.open_loop = true;
  for (int i = 0; i < 10; ++i) phase.arrivals.push_back(1_ms * i);
  phase.limits = {{{}, 1}};
  SimClock clock;
  TestTarget target(clock, 10_ms);
  CountingSink sink;
  run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  EXPECT_EQ(target.peak, 1U);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(target.submitted[static_cast<std::size_t>(i)].due, Instant{} + 1_ms * i);
    EXPECT_EQ(target.submitted[static_cast<std::size_t>(i)].sent, Instant{} + 10_ms * i);
  }
}

TEST(Run, a_stall_of_50_ms_is_made_up_for_and_receiving_keeps_its_share) {
  PhasePlan phase{.order = SampleOrder::sequential(1)};
  phase.open_loop = true;
  for (int i = 0; i < 2000; ++i) phase.arrivals.push_back(100_us * i);
  phase.limits = {{{}, 64}};  // a pool that is empty until replies are read
  SimClock clock;
  TestTarget target(clock, 1_ms);
  target.stall_at = 200;
  CountingSink sink;
  const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  EXPECT_EQ(result.phases[0].completed, 2000U);
  EXPECT_EQ(target.submitted.back().sent, target.submitted.back().due);
}

TEST(Run, ramps_change_the_limit_at_their_instants) {
  PhasePlan phase = closed(2);
  phase.limits.push_back({100_ms, 8});
  phase.limits.push_back({200_ms, 1});
  phase.stop.duration_max = 300_ms;
  SimClock clock;
  TestTarget target(clock, 10_ms);
  CountingSink sink;
  run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  const auto between = [&](Duration from, Duration to) {
    return std::count_if(target.submitted.begin(), target.submitted.end(), [&](const auto& s) {
      return s.sent >= Instant{} + from && s.sent < Instant{} + to;
    });
  };
  EXPECT_EQ(between({}, 100_ms), 20);
  EXPECT_EQ(between(100_ms, 200_ms), 80);
  EXPECT_EQ(between(210_ms, 300_ms), 9);
}

TEST(Run, whole_passes_are_finished_after_the_minimum_duration) {
  for (const std::uint32_t count : {1U, 2U, 3U}) {
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      PhasePlan phase = closed(3 * count);
      phase.stop.duration_min = 95_ms;
      phase.stop.pass = 25;
      SimClock clock;
      TestTarget target(clock, 10_ms);
      CountingSink sink;
      const Plan plan{.phases = {phase}};
      const RunResult result = run(shard(plan, i, count), clock, target, sink, Control{});
      EXPECT_EQ(result.phases[0].stopped, StopReason::passes);
      EXPECT_GE(result.phases[0].issue_ended - result.phases[0].started, 95_ms);
      total += result.phases[0].issued;
    }
    EXPECT_EQ(total % 25, 0U) << count << " shards";
  }
}

TEST(Run, asked_once_it_drains_and_asked_twice_it_cancels) {
  for (const bool twice : {false, true}) {
    PhasePlan phase = closed(100);
    phase.open_loop = true;
    for (int i = 0; i < 100; ++i) phase.arrivals.push_back(1_ms * i);
    SimClock clock;
    TestTarget target(clock, 10_ms);
    CountingSink sink;
    Control control;
    sink.interrupt = &control;
    sink.interrupt_after = 9;
    sink.interrupt_twice = twice;
    const RunResult result = run(Plan{.phases = {phase, closed(1)}}, clock, target, sink, control);
    EXPECT_TRUE(result.interrupted);
    ASSERT_EQ(result.phases.size(), 1U);
    EXPECT_EQ(result.phases[0].drained, !twice);
    EXPECT_EQ(result.phases[0].failed > 0, twice);
    EXPECT_EQ(result.phases[0].issued, result.phases[0].completed + result.phases[0].failed);
  }
}

TEST(Run, a_dead_target_ends_the_run_and_nothing_is_lost) {
  for (const bool refuses : {false, true}) {
    PhasePlan phase = closed(4);
    phase.stop.idle_max = 2_s;
    SimClock clock;
    TestTarget target(clock, 10_ms);
    target.fail = refuses;
    if (!refuses) target.answers_max = 10;
    CountingSink sink;
    const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
    EXPECT_TRUE(result.target_dead);
    EXPECT_EQ(result.phases[0].stopped, StopReason::idle);
    EXPECT_EQ(result.phases[0].issued, result.phases[0].completed + result.phases[0].failed);
  }
}

TEST(Run, the_drain_has_a_limit) {
  PhasePlan phase = closed(4);
  phase.stop.queries_max = 4;
  phase.stop.drain_max = 1_s;
  SimClock clock;
  TestTarget target(clock, 3600_s);
  CountingSink sink;
  const RunResult result = run(Plan{.phases = {phase}}, clock, target, sink, Control{});
  EXPECT_FALSE(result.phases[0].drained);
  EXPECT_EQ(result.phases[0].failed, 4U);
  EXPECT_EQ(clock.now(), Instant{} + 1_s);
}

TEST(Run, every_query_ends_exactly_once_whatever_the_plan) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    std::vector<PhasePlan> phases;
    for (std::uint64_t i = 1 + rng.below(3); i-- > 0;) {
      PhasePlan phase = closed(static_cast<std::uint32_t>(1 + rng.below(9)));
      phase.open_loop = rng.below(2) == 0;
      Duration at{};
      for (std::uint64_t k = rng.below(60); phase.open_loop && k-- > 0;) {
        at += Duration::from_seconds(rng.exponential(0.002));
        phase.arrivals.push_back(at);
      }
      phase.stop.queries_max = 1 + rng.below(50);
      phase.stop.duration_max = 1_ms * static_cast<std::int64_t>(1 + rng.below(400));
      phase.drain = rng.below(2) == 0;
      phases.push_back(phase);
    }
    SimClock clock;
    TestTarget target(clock, Duration::from_seconds(rng.exponential(0.01)));
    CountingSink sink;
    const RunResult result = run(Plan{.phases = phases}, clock, target, sink, Control{});
    std::uint64_t issued = 0;
    for (const PhaseResult& phase : result.phases) issued += phase.issued;
    int done = 0;
    for (const auto& [index, count] : sink.done) done += count;
    EXPECT_EQ(static_cast<std::uint64_t>(done), issued) << "seed " << seed;
    EXPECT_EQ(sink.marks.size(), 3 * result.phases.size());
  }
}

}  // namespace
}  // namespace assay::run
