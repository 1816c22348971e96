#include "metrics/steady_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>

#include "base/rng.h"
#include "metrics/token_truth.h"

namespace assay::metrics {
namespace {

using testing::StartsWith;

Plan plan_of() {
  Plan plan;
  plan.phases.push_back({.kind = PhaseKind::warmup, .name = "warmup"});
  plan.phases.push_back({.kind = PhaseKind::performance, .name = "performance"});
  return plan;
}

Event steady_event(std::uint32_t index, double tpot_ms, std::uint16_t phase = 1) {
  Event event;
  event.query.phase = phase;
  event.query.index = index;
  event.sent = Instant{} + 100_ms * static_cast<std::int64_t>(index);
  event.first_token = event.sent + 50_ms;
  event.done = event.first_token + Duration::from_seconds(tpot_ms * 1e-3 * 100);
  event.outcome = Outcome::ok;
  event.streamed = true;
  event.fragments = 101;
  event.usage.completion_tokens = 101;
  return event;
}

std::vector<Event> watched_run(std::uint32_t queries, const std::function<double(double)>& level) {
  Rng rng(7);
  std::vector<Event> out;
  for (std::uint32_t i = 0; i < queries; ++i) {
    const double at = static_cast<double>(i) / queries;
    out.push_back(steady_event(i, 20 * level(at) * std::exp(0.1 * rng.normal())));
  }
  return out;
}

const SteadyOptions kOptions{.super_pass = 400, .window_min = 100_s};

struct WatchedAndFound {
  SteadyState now{};
  SteadyState after{};
};

// The same run, watched reply by reply, and looked at as a whole.
WatchedAndFound watched_and_found(const std::vector<Event>& run, const SteadyOptions& options) {
  SteadyWatch watch(plan_of(), options);
  std::vector<Issued> issued;
  for (const Event& event : run) {
    watch.on_done(event, "");
    issued.push_back(issued_of(event, plausible_count(event)));
  }
  return {watch.state(), find_steady_state(issued, options)};
}

TEST(SteadyWatch, HasItsMeasuresBeforeItsFirstLook) {
  const SteadyState state = SteadyWatch(plan_of(), kOptions).state();
  EXPECT_EQ(state.window_min, 100_s);
  EXPECT_EQ(state.super_pass_size, 400U);
  EXPECT_EQ(state.verdict, SteadyVerdict::not_found);
}

TEST(SteadyWatch, SaysWhatTheDetectorSaysAfterwards) {
  for (const auto& level : std::vector<std::function<double(double)>>{
           [](double) { return 1.0; }, [](double at) { return 1 + at; },
           [](double at) { return at < 0.1 ? 3 - 20 * at : 1.0; }}) {
    std::vector<Event> run = watched_run(3200, level);
    for (std::size_t i = 1600; i < run.size(); i += 5) {
      run[i].outcome = Outcome::reset;
      run[i].done = run[i].done + 20_s;
    }
    const auto [now, after] = watched_and_found(run, kOptions);
    EXPECT_EQ(now.verdict, after.verdict);
    EXPECT_EQ(now.status, after.status);
    EXPECT_EQ(now.first, after.first);
    EXPECT_EQ(now.last, after.last);
    EXPECT_EQ(now.span, after.span);
    EXPECT_EQ(now.completed, after.completed);
    EXPECT_EQ(now.failed, after.failed);
  }
}

TEST(SteadyWatch, KnowsTheSeriesThatItWatchesAndNoOther) {
  const std::vector<Event> run = watched_run(3200, [](double) { return 1.0; });
  for (const Gating by : {Gating::tpot, Gating::latency}) {
    SteadyOptions options = kOptions;
    options.by = by;
    const auto [now, after] = watched_and_found(run, options);
    ASSERT_TRUE(now.found);
    const bool by_tpot = by == Gating::tpot;
    EXPECT_EQ((by_tpot ? now.tpot : now.latency).mean, (by_tpot ? after.tpot : after.latency).mean);
    EXPECT_EQ((by_tpot ? now.latency : now.tpot).count, 0U);
    EXPECT_EQ(now.ttft.count, 0U);
  }
}

TEST(SteadyWatch, WhatIsMissingBetweenHoldsItBackAndOtherPhasesAreNotItsConcern) {
  const std::vector<Event> run = watched_run(800, [](double) { return 1.0; });
  SteadyWatch watch(plan_of(), kOptions);
  for (std::uint32_t i = 0; i < 2000; ++i) watch.on_done(steady_event(i, 500, 0), "");
  EXPECT_EQ(watch.state().super_passes, 0U);
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (i != 10) watch.on_done(run[i], "");
  }
  EXPECT_EQ(watch.state().super_passes, 0U);
  watch.on_done(run[10], "");
  EXPECT_EQ(watch.state().super_passes, 2U);
  for (const std::uint32_t beyond : {1U << 24U, ~0U}) {
    watch.on_done(steady_event(beyond, 500), "");
    EXPECT_EQ(watch.state().super_passes, 2U) << "a number beyond all that it keeps";
  }
}

TEST(SteadyWatch, ShardsTellItAtTheSameTime) {
  const std::vector<Event> run = watched_run(20'000, [](double) { return 1.0; });
  SteadyWatch watch(plan_of(), {.super_pass = 2500, .window_min = 60_s});
  std::vector<std::thread> shards;
  for (std::size_t shard = 0; shard < 3; ++shard) {
    shards.emplace_back([&, shard] {
      for (std::size_t i = shard; i < run.size(); i += 3) watch.on_done(run[i], "");
    });
  }
  const std::string meanwhile = watch.words();
  for (std::thread& shard : shards) shard.join();
  EXPECT_FALSE(meanwhile.empty());
  EXPECT_EQ(watch.state().super_passes, 8U);
  EXPECT_THAT(watch.words(), StartsWith("steady since super-pass 1, long enough"));
}

TEST(SteadyWatch, SpeaksPlainly) {
  SteadyState state;
  EXPECT_EQ(steady_words(state), "too early to say: 0 of 4 super-passes");
  state.verdict = SteadyVerdict::drifting_up;
  state.super_passes = 1;
  EXPECT_EQ(steady_words(state), "drifting up: TPOT grows, 1 super-pass");
  state.verdict = SteadyVerdict::steady;
  state.found = true;
  state.first = 1;
  state.last = 3;
  state.span = 250_s;
  state.window_min = 1200_s;
  state.status = WindowStatus::insufficient_passes;
  EXPECT_EQ(steady_words(state), "steady since super-pass 2: 3 of 4 super-passes, 4:10 of 20:00");
  state.verdict = SteadyVerdict::anomaly;
  EXPECT_EQ(steady_words(state),
            "shifted: level in super-passes 2 to 4, then another level: 3 of 4 super-passes, 4:10 "
            "of 20:00");
  state = {};
  state.super_passes = 3;
  EXPECT_EQ(steady_words(state), "too early to say: 3 of 4 super-passes");
  state.super_passes = 4;
  EXPECT_EQ(steady_words(state), "not level yet, 4 super-passes");
}

TEST(SteadyWatch, NamesTheFirstGateThatDrifts) {
  SteadyState state;
  state.by = Gating::latency;
  state.super_passes = 5;
  const auto words = [&state](Level latency, Level rate) {
    state.metrics = {{.name = "latency_p90", .level = latency},
                     {.name = "completion_rate", .level = rate}};
    return steady_words(state);
  };
  state.verdict = SteadyVerdict::drifting_down;
  const std::string of_latency = "drifting down: latency falls, 5 super-passes";
  EXPECT_EQ(words(Level::drifting_down, Level::drifting_up), of_latency);
  EXPECT_EQ(words(Level::drifting_up, Level::plateau), of_latency);
  EXPECT_EQ(words(Level::plateau, Level::unknown), of_latency);
  const std::string of_rate = "drifting down: the completion rate falls, 5 super-passes";
  EXPECT_EQ(words(Level::plateau, Level::drifting_down), of_rate);
  EXPECT_EQ(words(Level::unknown, Level::drifting_up), of_rate);
}

// It judges anew when as many queries have come as make a quarter of a pass or an eighth of the
// run.
TEST(SteadyWatch, LooksFromTheFirstPassOnAndThenAtEachStep) {
  SteadyWatch watch(plan_of(), {.super_pass = 8});
  std::uint32_t told = 0;
  const auto passes_at = [&](std::uint32_t queries) {
    for (; told < queries; ++told) watch.on_done(steady_event(told, 1), "");
    return watch.state().super_passes;
  };
  EXPECT_EQ(passes_at(7), 0U);
  EXPECT_EQ(passes_at(8), 1U);
  EXPECT_EQ(passes_at(15), 1U);
  EXPECT_EQ(passes_at(16), 1U) << "less than a step after the last look";
  EXPECT_EQ(passes_at(17), 2U);
}

}  // namespace
}  // namespace assay::metrics
