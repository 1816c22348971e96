// Steady state of replies without tokens: latency P90 and the completion rate of a closed loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "base/rng.h"
#include "domain/api.h"
#include "metrics/completion_clock.h"
#include "metrics/steady_state.h"

namespace assay::metrics {
namespace {

struct Loop {
  std::uint32_t slots = 16;
  std::uint64_t pass = 120;
  std::uint64_t passes = 8;
  double noise = 0.1;  // of one service time, of the logarithm
  std::uint32_t units = 1;
};

// A closed loop: each slot sends its next query when its last one has ended. `service` gives the
// time of a query at that share of the run in ms; negative: it fails after as long.
std::vector<Issued> make_loop(const Loop& loop, std::uint64_t seed,
                              const std::function<double(double)>& service) {
  Rng rng(seed);
  std::priority_queue<Instant, std::vector<Instant>, std::greater<>> free;
  for (std::uint32_t i = 0; i < loop.slots; ++i) free.push(Instant{} + 1_s);
  std::vector<Issued> out(loop.pass * loop.passes);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double ms = service(static_cast<double>(i) / static_cast<double>(out.size()));
    const double took = std::abs(ms) * 1e6 * std::exp(loop.noise * rng.normal());
    out[i].sent = free.top();
    free.pop();
    out[i].done = out[i].sent + Duration{static_cast<std::int64_t>(took)};
    free.push(out[i].done);
    out[i].ok = ms > 0;
    if (out[i].ok) out[i].latency = static_cast<double>((out[i].done - out[i].sent).ns);
    out[i].units = loop.units;
  }
  return out;
}

SteadyState found(const std::vector<Issued>& run, const Loop& loop) {
  return find_steady_state(run, {.super_pass = loop.pass,
                                 .window_min = 1_s,
                                 .by = Gating::latency,
                                 .slots = loop.slots,
                                 .unit = "image"});
}

TEST(CompletionClock, equal_replies_that_end_together_have_one_rate_wherever_a_block_is_cut) {
  const Loop loop{.slots = 64, .pass = 64, .noise = 0};
  const CompletionClock clock(make_loop(loop, 1, [](double) { return 200.0; }), loop.slots);
  // 64 slots of 200 ms: 320 a second. The instants of single completions would give 0 or nothing.
  for (const std::size_t from : {0U, 1U, 37U, 64U, 100U}) {
    for (const std::size_t length : {1U, 10U, 64U, 333U}) {
      EXPECT_NEAR(clock.rate(from, from + length), 320, 1e-6) << from << " + " << length;
    }
  }
  EXPECT_EQ(clock.rate(10, 10), 0);
  EXPECT_EQ(clock.rate(513, 600), 0) << "beyond the last completion";
}

TEST(CompletionClock, a_query_that_failed_takes_time_and_is_no_completion) {
  std::vector<Issued> run = make_loop({.slots = 1, .noise = 0}, 1, [](double) { return 100.0; });
  for (std::size_t i = 0; i < run.size(); i += 4) run[i].ok = false;
  const CompletionClock clock(run, 1);
  EXPECT_NEAR(clock.rate(0, 400), 7.5, 1e-9);
  run[3].done = Instant::none();
  EXPECT_NEAR(CompletionClock(run, 1).rate(0, 3), 20.0 / 3, 1e-9) << "without an end: left out";
  EXPECT_EQ(CompletionClock({}, 4).rate(0, 8), 0);
  run[3].done = run[2].done;
  run[3].sent = Instant::none();
  EXPECT_NEAR(CompletionClock(run, 1).rate(0, 3), 20.0 / 3, 1e-9) << "never sent: left out";
}

TEST(SteadyLatency, a_level_loop_is_steady_and_its_window_has_the_true_rate) {
  int steady = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Loop loop{.pass = 240, .passes = 12};
    // The window is judged alike whether replies end one by one or all at once.
    loop.noise = seed % 2 == 0 ? 0 : 0.1;
    loop.slots = seed % 3 == 0 ? 120 : 16;
    loop.units = 4;
    const SteadyState state = found(make_loop(loop, seed, [](double) { return 250.0; }), loop);
    if (state.verdict != SteadyVerdict::steady) continue;
    ++steady;
    EXPECT_TRUE(state.official());
    ASSERT_EQ(state.metrics.size(), 2U);
    EXPECT_EQ(state.metrics[0].name, "latency_p90");
    EXPECT_EQ(state.metrics[1].name, "completion_rate");
    const double truth = loop.slots / 0.25 / std::exp(loop.noise * loop.noise / 2);
    EXPECT_NEAR(state.qps, truth, loop.noise == 0 ? 1e-6 * truth : 0.02 * truth) << seed;
    ASSERT_TRUE(state.units_per_s);
    EXPECT_NEAR(*state.units_per_s, 4 * state.qps, 1e-9 * truth);
    EXPECT_EQ(state.units, 4 * state.completed);
    EXPECT_EQ(state.unit, "image");
    EXPECT_FALSE(state.tps || state.tps_per_user);
  }
  EXPECT_GE(steady, 98);
}

TEST(SteadyLatency, a_drift_of_the_latency_is_never_called_steady) {
  int named = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed + 5);
    Loop loop;
    loop.passes = 5 + seed % 8;
    loop.noise = 0.15 * rng.uniform();
    const double size = (seed % 2 == 0 ? 1 : -1) * (0.1 + 0.4 * rng.uniform());
    const SteadyState state = found(
        make_loop(loop, seed, [&](double at) { return 200 * (1 + size * (at - 0.5)); }), loop);
    EXPECT_FALSE(state.official() && state.verdict == SteadyVerdict::steady)
        << seed << ": " << size << ", " << steady_state_text(state);
    named += state.verdict == (size > 0 ? SteadyVerdict::drifting_up : SteadyVerdict::drifting_down)
                 ? 1
                 : 0;
  }
  EXPECT_GE(named, 150);
}

// The latency of those that succeed is level throughout.
TEST(SteadyLatency, failures_that_become_more_are_seen_by_the_completion_rate) {
  const Loop loop{.noise = 0.02};
  std::uint64_t i = 0;
  const std::vector<Issued> run = make_loop(loop, 3, [&i](double at) {
    const auto every = static_cast<std::uint64_t>(40 - 36 * at);
    return ++i % every == 0 ? -200.0 : 200.0;
  });
  const SteadyState state = found(run, loop);
  EXPECT_FALSE(state.official()) << steady_state_text(state);
  EXPECT_EQ(state.verdict, SteadyVerdict::drifting_down);
  EXPECT_TRUE(steady_state_text(state).starts_with("no: completion_rate drifts by -"))
      << steady_state_text(state);
  EXPECT_TRUE(steady_state_text(state).ends_with("queries/s")) << steady_state_text(state);
}

TEST(SteadyLatency, the_ramp_is_cropped_and_a_shift_is_disclosed) {
  const Loop loop{.passes = 12, .noise = 0.03};
  const SteadyState ramped =
      found(make_loop(loop, 8, [](double at) { return at < 0.2 ? 600 - 2000 * at : 200.0; }), loop);
  EXPECT_TRUE(ramped.official()) << steady_state_text(ramped);
  EXPECT_GE(ramped.first, 2U);
  EXPECT_NEAR(ramped.qps, 80, 2);
  const SteadyState shifted =
      found(make_loop(loop, 8, [](double at) { return at < 0.6 ? 200 : 260.0; }), loop);
  EXPECT_EQ(shifted.verdict, SteadyVerdict::anomaly);
  EXPECT_NEAR(shifted.shift.value_or(0), 0.3, 0.03);
  const Json block = steady_state_block(shifted);
  EXPECT_NEAR(block["anomaly"]["latency_p50_shift"].as_double(), 0.3, 0.03);
  EXPECT_EQ(block["state"]["latency_p90"].as_string(), "Plateau");
  EXPECT_EQ(block["state"]["completion_rate"].as_string(), "Plateau");
  const Json json = steady_state_json(shifted);
  EXPECT_GT(json["metrics"][1]["low_qps"].as_double(), 0);
  EXPECT_GT(json["metrics"][0]["low_ms"].as_double(), 0);
  EXPECT_EQ(json["figures"]["units"].as_uint(), shifted.completed);
}

TEST(SteadyLatency, a_runs_facts_say_what_gates_it) {
  const Json tokens =
      Json()
          .set("api", "openai")
          .set("steady_state", Json().set("super_pass", 8).set("window_min_s", 600));
  EXPECT_EQ(steady_options(tokens).by, Gating::tpot);
  EXPECT_EQ(steady_options(tokens).unit, "");
  EXPECT_EQ(steady_options(tokens).window_min, 600_s);
  const auto of = [](Json steady) {
    return steady_options(
        Json().set("api", "openai_images").set("steady_state", std::move(steady)));
  };
  const SteadyOptions images =
      of(Json().set("super_pass", 8).set("gate", "latency").set("slots", 4));
  EXPECT_EQ(images.by, Gating::latency);
  EXPECT_EQ(images.slots, 4U);
  EXPECT_EQ(images.unit, "image");
  // As a damaged log may have it.
  EXPECT_EQ(of(Json().set("slots", 0)).slots, 1U);
  EXPECT_EQ(of(Json().set("slots", -3)).slots, 1U);
  EXPECT_EQ(of(Json().set("slots", (std::int64_t{1} << 32) + 5)).slots, 1U << 24U);
  EXPECT_EQ(steady_options(Json().set("api_unit", "caption")).unit, "caption");
  EXPECT_EQ(steady_options(Json().set("api_unit", "\x1b[31m")).unit, "");
  EXPECT_EQ(steady_options(Json()).super_pass, 0U);
}

// The window ends before the run does: what follows it is not in its rate.
TEST(SteadyLatency, the_rates_of_a_window_are_of_its_own_completions) {
  const Loop loop{.passes = 12, .noise = 0.03};
  std::vector<Issued> run = make_loop(loop, 8, [](double at) { return at < 0.6 ? 200 : 260.0; });
  for (std::size_t i = 0; i < run.size(); ++i) {
    run[i].sound_s = 0.25 + 1e-3 * static_cast<double>(i % 7);
    run[i].units = 1 + static_cast<std::uint32_t>(i % 3);
  }
  const SteadyOptions options{
      .super_pass = loop.pass, .by = Gating::latency, .slots = loop.slots, .unit = "image"};
  const SteadyState images = find_steady_state(run, options);
  ASSERT_EQ(images.verdict, SteadyVerdict::anomaly);
  const std::size_t from = images.first * loop.pass;
  const std::size_t to = (images.last + 1) * loop.pass;
  ASSERT_LT(to + loop.pass, run.size());
  EXPECT_EQ(images.qps, CompletionClock(run, loop.slots).rate(from, to));
  double sound = 0;
  std::uint64_t units = 0;
  for (std::size_t i = from; i < to; ++i) {
    sound += run[i].sound_s;
    units += run[i].units;
  }
  EXPECT_EQ(images.completed, to - from);
  EXPECT_EQ(images.units, units);
  EXPECT_DOUBLE_EQ(images.sound_s, sound);
  const double each = images.qps / static_cast<double>(to - from);
  EXPECT_DOUBLE_EQ(images.units_per_s.value_or(0), each * static_cast<double>(units));
  EXPECT_FALSE(images.tps) << "nobody counted tokens";
  SteadyOptions other = options;
  other.unit = kAudioSecond;
  EXPECT_DOUBLE_EQ(find_steady_state(run, other).units_per_s.value_or(0), each * sound);
  other.unit = "";
  EXPECT_FALSE(find_steady_state(run, other).units_per_s) << "without a unit";
  for (Issued& query : run) {
    query.tokens = 3;
    query.sound_s = 0;
  }
  other.unit = kAudioSecond;
  const SteadyState silent = find_steady_state(run, other);
  EXPECT_FALSE(silent.units_per_s) << "of sound whose length nobody knows";
  EXPECT_DOUBLE_EQ(silent.tps.value_or(0), 3 * silent.qps);
  run[from].sound_s = 0.5;
  EXPECT_DOUBLE_EQ(find_steady_state(run, other).units_per_s.value_or(0), each * 0.5);
}

// A second of a slow endpoint may have less than one reply.
TEST(SteadyLatency, a_rate_below_one_a_second_is_a_rate) {
  const Loop loop{.slots = 1, .noise = 0};
  const SteadyState state = found(make_loop(loop, 1, [](double) { return 4000.0; }), loop);
  ASSERT_TRUE(state.found);
  EXPECT_NEAR(state.qps, 0.25, 1e-9);
  EXPECT_NEAR(state.units_per_s.value_or(0), 0.25, 1e-9);
}

TEST(SteadyLatency, a_first_pass_that_failed_whole_is_no_step) {
  const Loop loop{.slots = 1, .pass = 33, .passes = 6, .noise = 0};
  std::vector<Issued> run = make_loop(loop, 1, [](double) { return 200.0; });
  for (std::size_t i = 0; i < loop.pass; ++i) {
    run[i].ok = false;
    run[i].latency = 0;
  }
  const SteadyState state = found(run, loop);
  EXPECT_EQ(state.verdict, SteadyVerdict::steady);
  EXPECT_EQ(state.first, 1U);
  EXPECT_EQ(state.last, 5U);
}

}  // namespace
}  // namespace assay::metrics
