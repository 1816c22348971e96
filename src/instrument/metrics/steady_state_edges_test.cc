// The steady-state detector at its edges: a query's contribution, windows without instants, very
// many passes, and the decisions over a table of runs, number by number.
#include <gtest/gtest.h>

#include <cmath>

#include "base/format.h"
#include "base/rng.h"
#include "base/testing_golden.h"
#include "metrics/steady_state.h"

namespace assay::metrics {
namespace {

Event whole_event() {
  Event event{.outcome = Outcome::ok, .streamed = true};
  event.sent = Instant{1000};
  event.first_token = Instant{1500};
  event.done = Instant{4500};
  event.fragments = 7;
  return event;
}

TEST(IssuedOf, a_query_gives_its_times_and_its_tokens) {
  const Issued issued = issued_of(whole_event(), {.output = 11, .after_first = 10});
  EXPECT_TRUE(issued.ok);
  EXPECT_EQ(issued.sent, Instant{1000});
  EXPECT_EQ(issued.tokens, 11);
  EXPECT_EQ(issued.latency, 3500);
  EXPECT_EQ(issued.ttft, 500);
  EXPECT_EQ(issued.tpot, 300);
}

TEST(IssuedOf, what_a_query_has_not_is_left_out) {
  const TokenCount count{.output = 11, .after_first = 10};
  const auto issued = [&](auto change, const TokenCount& tokens) {
    Event event = whole_event();
    change(event);
    return issued_of(event, tokens);
  };
  const Issued failed = issued([](Event& e) { e.outcome = Outcome::reset; }, count);
  EXPECT_FALSE(failed.ok);
  EXPECT_EQ(failed.sent, Instant{1000});
  EXPECT_EQ(failed.tokens, -1);
  EXPECT_EQ(failed.latency + failed.ttft + failed.tpot, 0);
  for (const auto change :
       {+[](Event& e) { e.sent = Instant::none(); }, +[](Event& e) { e.done = Instant::none(); }}) {
    const Issued timeless = issued(change, count);
    EXPECT_TRUE(timeless.ok);
    EXPECT_EQ(timeless.latency + timeless.ttft + timeless.tpot, 0);
    EXPECT_EQ(timeless.tokens, -1);
  }
  for (const auto change : {+[](Event& e) { e.streamed = false; },
                            +[](Event& e) { e.first_token = Instant::none(); }}) {
    const Issued whole = issued(change, count);
    EXPECT_EQ(whole.latency, 3500);
    EXPECT_EQ(whole.tokens, 11);
    EXPECT_EQ(whole.ttft + whole.tpot, 0);
  }
  EXPECT_EQ(issued([](Event& e) { e.fragments = 1; }, count).tpot, 0);
  EXPECT_EQ(issued([](Event& e) { e.fragments = 2; }, count).tpot, 300);
  EXPECT_EQ(issued([](Event&) {}, {.output = 11, .after_first = 0}).tpot, 0);
  EXPECT_EQ(issued([](Event&) {}, {.output = 11, .after_first = 1}).tpot, 3000);
  EXPECT_EQ(issued([](Event&) {}, {.output = 11, .after_first = 0}).ttft, 500);
}

// 20 ms a token, a query each 100 ms, with a noise that is the same for every run.
std::vector<Issued> level_run(std::size_t queries) {
  std::vector<Issued> out(queries);
  Rng rng(3);
  for (std::size_t i = 0; i < queries; ++i) {
    out[i] = {.sent = Instant{} + 100_ms * static_cast<std::int64_t>(i),
              .tpot = 20e6 * std::exp(0.05 * rng.normal()),
              .ttft = 300e6,
              .latency = 2e9,
              .tokens = 50,
              .ok = true};
  }
  return out;
}

SteadyState steady_of(const std::vector<Issued>& run, std::uint64_t pass, Duration least = {}) {
  return find_steady_state(run, {.super_pass = pass, .window_min = least});
}

TEST(SteadyStateEdges, nothing_is_of_a_part_of_a_dataset) {
  const SteadyState none;
  EXPECT_EQ(none.super_pass_size + none.super_passes + none.first + none.last + none.samples, 0U);
  EXPECT_EQ(none.completed + none.failed, 0U);
  EXPECT_EQ(none.output_tokens, 0);
  EXPECT_FALSE(none.found || none.official() || none.shift || none.tps || none.tps_per_user);
  EXPECT_EQ(none.qps, 0);
  const GatingMetric metric;
  EXPECT_EQ(metric.level, Level::unknown);
  EXPECT_EQ(metric.drift + metric.drift_error + metric.variation + metric.low + metric.high, 0);
  EXPECT_EQ(metric.p_value, 1);
  const SteadyState part = steady_of(level_run(499), 500, 7_s);
  EXPECT_EQ(part.status, WindowStatus::partial_dataset);
  EXPECT_EQ(part.super_passes, 0U);
  EXPECT_EQ(part.super_pass_size, 500U);
  EXPECT_EQ(part.window_min, 7_s);
  EXPECT_FALSE(part.found);
  EXPECT_TRUE(part.metrics.empty());
}

TEST(SteadyStateEdges, a_window_is_long_enough_at_the_very_length_and_of_four_passes) {
  const std::vector<Issued> run = level_run(4 * 200);
  const Duration span = 100_ms * 799;
  EXPECT_EQ(steady_of(run, 200, span).status, WindowStatus::windowable);
  EXPECT_EQ(steady_of(run, 200, span + 1_ns).status, WindowStatus::insufficient_duration);
  EXPECT_EQ(steady_of(run, 200, span).span, span);
  EXPECT_EQ(steady_of(run, 200, span).from, Instant{});
  EXPECT_EQ(steady_of(run, 200, span).latency.min, 2e9);
  EXPECT_EQ(steady_of(run, 200, span).ttft.min, 300e6);
  const SteadyState three = steady_of(level_run(3 * 200), 200);
  EXPECT_TRUE(three.found);
  EXPECT_EQ(three.status, WindowStatus::insufficient_passes);
}

TEST(SteadyStateEdges, a_block_that_is_near_the_level_by_chance_does_not_end_the_ramp) {
  // Four blocks of 32 queries a super-pass. Seven blocks are a ramp; one of them is near.
  std::vector<Issued> run = level_run(16 * 128);
  for (std::size_t i = 0; i < run.size(); ++i) {
    const std::size_t block = i / 32;
    run[i].tpot = block < 7 && block != 4 ? 23e6 : 20e6;
  }
  const SteadyState steady = steady_of(run, 128);
  ASSERT_EQ(steady.verdict, SteadyVerdict::steady);
  EXPECT_EQ(steady.first, 2U);
}

TEST(SteadyStateEdges, replies_that_fail_at_the_start_make_no_ramp_of_a_step) {
  const auto verdict = [](bool ramp) {
    std::vector<Issued> run = level_run(16 * 128);
    for (std::size_t i = 0; i < run.size(); ++i) {
      const double before = ramp ? 30e6 - 10e6 * static_cast<double>(i) / (6 * 128) : 26e6;
      run[i].tpot = i < 6 * 128 ? before : 20e6;
      if (i < 96) run[i] = {.sent = run[i].sent};
    }
    return steady_of(run, 128);
  };
  EXPECT_NE(verdict(false).verdict, SteadyVerdict::steady);
  EXPECT_EQ(verdict(true).verdict, SteadyVerdict::steady);
  EXPECT_NEAR(static_cast<double>(verdict(true).first), 6, 1);
}

// Four passes a little slower than the rest: too little for a ramp, and their first replies do not
// change that.
TEST(SteadyStateEdges, replies_of_one_token_at_the_start_make_no_ramp) {
  std::vector<Issued> run = level_run(16 * 128);
  for (std::size_t i = 0; i < 4 * 128; ++i) run[i].tpot *= 1.075;
  EXPECT_NE(steady_of(run, 128).verdict, SteadyVerdict::steady);
  for (std::size_t i = 0; i < 96; ++i) run[i].tpot = 0;
  EXPECT_NE(steady_of(run, 128).verdict, SteadyVerdict::steady);
}

TEST(SteadyStateEdges, a_window_spans_what_was_sent_in_it) {
  std::vector<Issued> run = level_run(5 * 200);
  run[0].sent = Instant::none();  // never sent
  run[1].sent = Instant{} + 150_ms;
  run[2].sent = Instant{} + 130_ms;  // two shards: sent out of order
  run.back().sent = Instant::none();
  const SteadyState steady = steady_of(run, 200);
  ASSERT_TRUE(steady.found);
  ASSERT_EQ(steady.first, 0U);
  EXPECT_EQ(steady.from, Instant{} + 130_ms);
  EXPECT_EQ(steady.span, 100_ms * 998 - 130_ms);
  EXPECT_EQ(steady.samples, 1000U);
  for (Issued& query : run) query.sent = Instant::none();
  const SteadyState timeless = steady_of(run, 200, 1_ns);
  EXPECT_EQ(timeless.from, Instant::none());
  EXPECT_EQ(timeless.span, Duration{});
  EXPECT_EQ(timeless.status, WindowStatus::insufficient_duration);
  EXPECT_FALSE(timeless.tps);
  EXPECT_EQ(timeless.qps, 0);
}

TEST(SteadyStateEdges, figures_are_of_what_has_them) {
  std::vector<Issued> run = level_run(5 * 200);
  run[0].ttft = 0;
  run[1].latency = 0;
  run[2].tpot = 0;
  run[3].tokens = -1;
  run[4].tokens = 0;
  run[5].ok = false;
  const SteadyState steady = steady_of(run, 200);
  ASSERT_TRUE(steady.found);
  EXPECT_EQ(steady.completed, 999U);
  EXPECT_EQ(steady.failed, 1U);
  EXPECT_EQ(steady.ttft.count, 998U);
  EXPECT_EQ(steady.latency.count, 998U);
  EXPECT_EQ(steady.tpot.count, 998U);
  EXPECT_EQ(steady.output_tokens, 50 * 997);
  const double seconds = steady.span.seconds();
  EXPECT_NEAR(*steady.tps, 50.0 * 997 * 999 / 1000 / seconds, 1e-9);
  EXPECT_NEAR(steady.qps, 999.0 * 999 / 1000 / seconds, 1e-9);
  for (Issued& query : run) query.tokens = -1;
  EXPECT_FALSE(steady_of(run, 200).tps) << "nobody counted";
  for (Issued& query : run) query.tokens = 0;
  EXPECT_EQ(steady_of(run, 200).tps, 0.0) << "counted, and nothing came";
}

TEST(SteadyStateEdges, what_has_no_tpot_is_in_no_block_and_an_empty_block_is_none) {
  std::vector<Issued> run = level_run(6 * 200);
  for (std::size_t i = 0; i < run.size(); ++i) {
    if (i % 5 < 3) run[i].tpot = 0;
    if (i >= 400 && i < 600) run[i].ok = false;  // a whole pass failed
  }
  const SteadyState steady = steady_of(run, 200);
  EXPECT_EQ(steady.verdict, SteadyVerdict::steady);
  ASSERT_EQ(steady.metrics.size(), 2U);
  for (const GatingMetric& metric : steady.metrics) {
    EXPECT_EQ(metric.level, Level::plateau);
    EXPECT_GT(metric.low, 15e6);
    EXPECT_LT(metric.variation, 0.05);
  }
}

TEST(SteadyStateEdges, times_of_a_nanosecond_are_times) {
  std::vector<Issued> run = level_run(5 * 200);
  for (Issued& query : run) {
    query.tpot *= 0.5 / 20e6;
    query.ttft = query.latency = 1;
  }
  const SteadyState steady = steady_of(run, 200);
  ASSERT_TRUE(steady.found);
  EXPECT_EQ(steady.tpot.count, 1000U);
  EXPECT_EQ(steady.ttft.count, 1000U);
  EXPECT_EQ(steady.latency.count, 1000U);
  EXPECT_NEAR(*steady.tps_per_user, 1e9 / steady.tpot.percentile(90.0), 1e-3);
}

TEST(SteadyStateEdges, of_one_query_that_was_sent_there_is_no_span) {
  std::vector<Issued> run = level_run(5 * 200);
  for (Issued& query : run) query.sent = Instant::none();
  run[7].sent = Instant{} + 5_s;
  const SteadyState steady = steady_of(run, 200);
  EXPECT_EQ(steady.from, Instant::none());
  EXPECT_EQ(steady.span, Duration{});
  EXPECT_FALSE(steady.tps);
}

// Only exact values: a level, and before it one pass that is half as slow again.
TEST(SteadyStateEdges, of_four_blocks_the_first_may_be_a_ramp) {
  std::vector<Issued> run = level_run(8 * 20);
  for (std::size_t i = 0; i < run.size(); ++i) run[i].tpot = i < 20 ? 30e6 : 20e6;
  const SteadyState steady = steady_of(run, 20);
  EXPECT_TRUE(steady.found);
  EXPECT_EQ(steady.first, 1U);
  EXPECT_EQ(steady.last, 7U);
  const std::vector<Issued> four(run.begin(), run.begin() + 80);
  EXPECT_EQ(steady_of(four, 20).first, 1U);
  EXPECT_TRUE(steady_of(four, 20).found);
  EXPECT_EQ(steady_of(four, 20).status, WindowStatus::insufficient_passes);
}

// The median is level from pass 3 on, the 90th percentile from pass 4 on.
TEST(SteadyStateEdges, the_last_start_that_is_tried_leaves_four_passes) {
  const auto run = [](std::size_t passes) {
    std::vector<Issued> out = level_run(passes * 128);
    const std::size_t level = (passes - 4) * 128;
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double ramp = 10e6 * static_cast<double>(i) / static_cast<double>(level - 128);
      out[i].tpot = i < level - 128 ? 30e6 - ramp : i < level && i % 5 == 0 ? 40e6 : 20e6;
    }
    return out;
  };
  const SteadyState eight = steady_of(run(8), 128);
  EXPECT_EQ(eight.verdict, SteadyVerdict::steady);
  EXPECT_EQ(eight.first, 4U);
  EXPECT_EQ(eight.status, WindowStatus::windowable);
  EXPECT_EQ(steady_of(run(7), 128).first, 3U);
}

TEST(SteadyStateEdges, of_very_many_passes_several_are_taken_for_one) {
  const std::vector<Issued> run = level_run(257 * 10);
  EXPECT_EQ(steady_of({run.begin(), run.begin() + 2560}, 10).super_pass_size, 10U);
  const SteadyState grouped = steady_of(run, 10);
  EXPECT_EQ(grouped.super_pass_size, 20U);
  EXPECT_EQ(grouped.super_passes, 128U);
  EXPECT_EQ(steady_of({run.begin(), run.begin() + 1025}, 1).super_pass_size, 5U);
  EXPECT_EQ(steady_of({run.begin(), run.begin() + 1024}, 1).super_pass_size, 4U);
}

TEST(SteadyStateEdges, a_run_that_answered_nothing_is_not_found) {
  std::vector<Issued> run = level_run(5 * 200);
  for (Issued& query : run) query.ok = false;
  const SteadyState steady = steady_of(run, 200);
  EXPECT_FALSE(steady.found);
  EXPECT_EQ(steady.verdict, SteadyVerdict::not_found);
  EXPECT_EQ(steady.status, WindowStatus::insufficient_passes);
  ASSERT_EQ(steady.metrics.size(), 2U);
  EXPECT_EQ(steady.metrics[0].name, "tpot_p50");
  EXPECT_EQ(steady.metrics[1].name, "tpot_p90");
}

// Seed k gives a level, ramp, drift, step or several of them, some near the thresholds.
std::vector<Issued> table_run(std::uint64_t seed, std::uint64_t pass) {
  Rng rng(seed);
  const std::uint64_t passes = 1 + rng.below(20);
  std::vector<Issued> run(pass * passes + rng.below(pass));
  const bool ramp = rng.below(3) == 0;
  const double ramp_end = 0.02 + 0.5 * rng.uniform();
  const double depth = 1.2 * rng.uniform() - 0.5;
  const double drift = rng.below(3) == 0 ? 0.3 * (rng.uniform() - 0.5) : 0;
  const bool steps = rng.below(3) == 0;
  const double step_at = rng.uniform();
  const double step = steps ? 0.6 * (rng.uniform() - 0.4) : 0;
  const double noise = 0.01 + 0.2 * rng.uniform();
  const double wander = rng.below(2) == 0 ? 0 : 0.03 * rng.uniform();
  double slow = 0;
  for (std::size_t i = 0; i < run.size(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(run.size());
    slow = 0.98 * slow + 0.2 * wander * rng.normal();
    double level = 1 + drift * (at - 0.5) + (at >= step_at ? step : 0);
    if (ramp && at < ramp_end) level += depth * (1 - at / ramp_end);
    run[i] = {.sent = Instant{} + 50_ms * static_cast<std::int64_t>(i),
              .tpot = 20e6 * level * std::exp(noise * rng.normal() + slow),
              .ttft = 200e6 + 1e6 * static_cast<double>(rng.below(100)),
              .latency = 1e9 + 1e6 * static_cast<double>(rng.below(1000)),
              .tokens = static_cast<std::int32_t>(rng.below(200)),
              .ok = rng.below(50) != 0};
  }
  return run;
}

std::string line_of(const SteadyState& s) {
  std::string out = format("{} x {} {} {}", s.super_passes, s.super_pass_size, to_string(s.verdict),
                           to_string(s.status));
  if (s.found) {
    out += format(" [{}, {}] {} in {:.2f} s, {} + {}, {} tokens, {:.5g} qps, {:.5g} tps", s.first,
                  s.last, s.samples, s.span.seconds(), s.completed, s.failed, s.output_tokens,
                  s.qps, s.tps.value_or(-1));
  }
  if (s.shift) out += format(", shift {:.5g}", *s.shift);
  for (const GatingMetric& m : s.metrics) {
    out += format("\n  {} {} {:.5g} {:.5g} {:.5g} {:.5g} {:.5g} {:.5g}", m.name, to_string(m.level),
                  m.drift, m.drift_error, m.p_value, m.variation, m.low, m.high);
  }
  return out + "\n";
}

// The file is for a reader: each decision with its numbers. A change here changes which part of a
// user's run is its result.
TEST(SteadyStateEdges, the_decisions_over_a_table_of_runs_are_those_that_were_read) {
  std::string table;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Rng rng(seed + 1000);
    const std::uint64_t pass = rng.below(4) == 0 ? 1 + rng.below(60) : 100 + rng.below(300);
    table += format("{}: {}", seed, line_of(steady_of(table_run(seed, pass), pass, 20_s)));
  }
  expect_golden("metrics/steady_state.txt", table);
}

TEST(IssuedOf, a_query_asked_for_one_unit_at_least_and_sound_has_a_length) {
  const auto issued = [](std::uint32_t choices, Duration sound) {
    Event event = whole_event();
    event.choices_asked = static_cast<decltype(event.choices_asked)>(choices);
    event.sound.length = sound;
    return issued_of(event, {});
  };
  EXPECT_EQ(issued(0, {}).units, 1U);
  EXPECT_EQ(issued(1, {}).units, 1U);
  EXPECT_EQ(issued(2, {}).units, 2U);
  EXPECT_EQ(issued(7, {}).units, 7U);
  EXPECT_EQ(issued(1, 2500_ms).sound_s, 2.5);
  EXPECT_EQ(issued(1, Duration{-1}).sound_s, 0) << "of unknown length";
  EXPECT_EQ(issued(1, {}).done, Instant{4500});
}

}  // namespace
}  // namespace assay::metrics
