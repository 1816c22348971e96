#include "metrics/steady_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/rng.h"
#include "metrics/trend.h"

namespace assay::metrics {
namespace {

struct Shape {
  std::uint64_t pass = 500;
  std::uint64_t passes = 8;
  double noise = 0.12;    // of one reply's TPOT, of the logarithm
  double wander = 0;      // of a slow disturbance that replies share
  Duration gap = 100_ms;  // between issues
};

// A run whose TPOT is 20 ms × level(share of the run) × noise.
std::vector<Issued> make_run(const Shape& shape, std::uint64_t seed,
                             const std::function<double(double)>& level) {
  Rng rng(seed);
  const std::uint64_t n = shape.pass * shape.passes;
  std::vector<Issued> out(n);
  double slow = 0;
  for (std::uint64_t i = 0; i < n; ++i) {
    slow = 0.98 * slow + std::sqrt(1 - 0.98 * 0.98) * shape.wander * rng.normal();
    const double at = static_cast<double>(i) / static_cast<double>(n);
    Issued& query = out[i];
    query.sent = Instant{} + shape.gap * static_cast<std::int64_t>(i);
    query.ok = true;
    query.tpot = 20e6 * level(at) * std::exp(shape.noise * rng.normal() + slow);
    query.ttft = 300e6;
    query.latency = query.ttft + 100 * query.tpot;
    query.tokens = 101;
  }
  return out;
}

SteadyState find(const std::vector<Issued>& run, const Shape& shape, Duration least = 60_s) {
  return find_steady_state(run, {.super_pass = shape.pass, .window_min = least});
}

constexpr std::uint64_t kSeeds = 1000;
constexpr std::uint64_t kFewerSeeds = 300;  // where the tests would be long under a sanitizer

TEST(SteadyState, ALevelRunIsSteadyFromItsFirstPass) {
  const Shape shape;
  int found = 0;
  for (std::uint64_t seed = 0; seed < kFewerSeeds; ++seed) {
    const SteadyState steady = find(make_run(shape, seed, [](double) { return 1.0; }), shape);
    if (steady.verdict != SteadyVerdict::steady) continue;
    ++found;
    EXPECT_LE(steady.first, 1U) << seed;
    EXPECT_EQ(steady.last, 7U) << seed;
    EXPECT_EQ(steady.status, WindowStatus::windowable);
    EXPECT_TRUE(steady.official());
  }
  EXPECT_GE(found, 298);
}

// Up and down, from 8 % to 60 % over the run, with replies that differ little or much.
TEST(SteadyState, ADriftIsNeverCalledSteady) {
  int named = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Rng rng(seed + 77);
    Shape shape;
    shape.passes = 5 + seed % 12;
    shape.noise = 0.03 + 0.22 * rng.uniform();
    shape.wander = 0.02 * rng.uniform();
    const double size = 0.08 + 0.52 * rng.uniform();
    const double sign = seed % 2 == 0 ? 1 : -1;
    const SteadyState steady =
        find(make_run(shape, seed, [&](double at) { return 1 + sign * size * (at - 0.5); }), shape);
    EXPECT_NE(steady.verdict, SteadyVerdict::steady)
        << "seed " << seed << ": " << size * sign << " over " << shape.passes << " passes";
    EXPECT_FALSE(steady.official() && steady.verdict != SteadyVerdict::anomaly) << seed;
    const auto right = sign > 0 ? SteadyVerdict::drifting_up : SteadyVerdict::drifting_down;
    named += steady.verdict == right ? 1 : 0;
  }
  EXPECT_GE(named, 850) << "a drift should also be called one";
}

TEST(SteadyState, TheWindowBeginsWhereTheRampEndsWithinOneSuperPass) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kFewerSeeds; ++seed) {
    Rng rng(seed + 5);
    Shape shape;
    shape.passes = 8 + seed % 9;
    shape.noise = 0.03 + 0.15 * rng.uniform();
    const double end = 0.05 + 0.35 * rng.uniform();  // of the run
    const double depth = (seed % 2 == 0 ? 1 : -1) * (0.25 + 0.5 * rng.uniform());
    const auto level = [&](double at) { return at < end ? 1 + depth * (1 - at / end) : 1.0; };
    const SteadyState steady = find(make_run(shape, seed, level), shape);
    if (steady.verdict != SteadyVerdict::steady) continue;
    ++found;
    // The first super-pass that is steady from its start.
    const double edge = std::ceil(end * static_cast<double>(shape.passes));
    EXPECT_NEAR(static_cast<double>(steady.first), edge, 1.0) << seed;
    EXPECT_EQ(steady.last, shape.passes - 1) << seed;
  }
  EXPECT_GE(found, 285);
}

TEST(SteadyState, AStepEndsTheWindowWithinOneSuperPassAndIsDisclosed) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kFewerSeeds; ++seed) {
    Rng rng(seed + 11);
    Shape shape;
    shape.passes = 12;
    shape.noise = 0.03 + 0.1 * rng.uniform();
    const double at_step = 0.4 + 0.35 * rng.uniform();
    const double size = (seed % 2 == 0 ? 1 : -1) * (0.12 + 0.4 * rng.uniform());
    const auto level = [&](double at) { return at < at_step ? 1.0 : 1 + size; };
    const SteadyState steady = find(make_run(shape, seed, level), shape);
    EXPECT_NE(steady.verdict, SteadyVerdict::steady) << seed;
    if (steady.verdict != SteadyVerdict::anomaly) continue;
    ++found;
    EXPECT_NEAR(static_cast<double>(steady.last + 1), at_step * 12, 1.0) << seed;
    ASSERT_TRUE(steady.shift) << seed;
    EXPECT_NEAR(*steady.shift, size, 0.1) << seed;
  }
  EXPECT_GE(found, 270);
}

TEST(SteadyState, TheStatusSaysWhatIsShort) {
  Shape shape;
  const auto flat = [](double) { return 1.0; };
  const std::vector<Issued> run = make_run(shape, 1, flat);
  EXPECT_EQ(find(run, shape, 399_s).status, WindowStatus::windowable);
  const SteadyState brief = find(run, shape, 1200_s);
  EXPECT_EQ(brief.status, WindowStatus::insufficient_duration);
  EXPECT_EQ(brief.verdict, SteadyVerdict::steady);
  EXPECT_FALSE(brief.official());
  shape.passes = 3;
  const SteadyState few = find(make_run(shape, 1, flat), shape, 10_s);
  EXPECT_EQ(few.status, WindowStatus::insufficient_passes);
  EXPECT_FALSE(few.official());
  const std::vector<Issued> part(run.begin(), run.begin() + 499);
  EXPECT_EQ(find(part, shape).status, WindowStatus::partial_dataset);
  EXPECT_EQ(find({}, shape).status, WindowStatus::partial_dataset);
}

TEST(SteadyState, TheTextSaysYesOnlyOfAWindowThatCounts) {
  Shape shape;
  const auto flat = [](double) { return 1.0; };
  const auto text = [&shape, &flat](std::uint64_t passes) {
    shape.passes = passes;
    return steady_state_text(find(make_run(shape, 1, flat), shape, 10_s));
  };
  EXPECT_TRUE(text(8).starts_with("yes: super-passes ")) << text(8);
  EXPECT_EQ(text(3), "not known: 3 super-passes, 4 are needed; the whole run counts");
  EXPECT_EQ(text(1), "not known: 1 super-pass, 4 are needed; the whole run counts");
  std::vector<Issued> failed = make_run(shape, 1, flat);
  for (Issued& query : failed) query.tpot = 0;
  EXPECT_EQ(steady_state_text(find(failed, shape, 10_s)),
            "not known: 1 super-pass, 4 are needed; the whole run counts");
}

TEST(SteadyState, TheWindowsFiguresAreOfItsOwnQueries) {
  Shape shape;
  shape.passes = 6;
  std::vector<Issued> run = make_run(shape, 3, [](double) { return 1.0; });
  run[600].ok = false;
  const SteadyState steady = find(run, shape);
  ASSERT_EQ(steady.verdict, SteadyVerdict::steady);
  ASSERT_EQ(steady.first, 0U);
  EXPECT_EQ(steady.samples, 3000U);
  EXPECT_EQ(steady.completed, 2999U);
  EXPECT_EQ(steady.failed, 1U);
  EXPECT_EQ(steady.output_tokens, 2999 * 101);
  EXPECT_EQ(steady.span, 100_ms * 2999);
  // One query each 100 ms.
  ASSERT_TRUE(steady.tps);
  EXPECT_NEAR(*steady.tps, 1010.0 * 2999 / 3000, 0.01);
  EXPECT_NEAR(steady.qps, 10.0 * 2999 / 3000, 1e-3);
  EXPECT_FALSE(steady.ttft.estimated || steady.latency.estimated || steady.tpot.estimated);
  ASSERT_TRUE(steady.tps_per_user);
  EXPECT_NEAR(*steady.tps_per_user, 1e9 / steady.tpot.percentile(90.0), 1e-9);
}

TEST(SteadyState, WithoutTokenTimesNothingIsFound) {
  Shape shape;
  std::vector<Issued> run = make_run(shape, 4, [](double) { return 1.0; });
  for (Issued& query : run) query.tpot = 0;
  const SteadyState steady = find(run, shape);
  EXPECT_EQ(steady.verdict, SteadyVerdict::not_found);
  EXPECT_FALSE(steady.official());
}

TEST(SteadyState, TheBlockHasTheRulesWords) {
  const Shape shape;
  const SteadyState steady = find(make_run(shape, 9, [](double) { return 1.0; }), shape);
  const Json block = steady_state_block(steady);
  EXPECT_EQ(block["status"].as_string(), "windowable");
  EXPECT_EQ(block["verdict"].as_string(), "STEADY STATE");
  EXPECT_EQ(block["window"]["super_pass_size"].as_uint(), 500U);
  EXPECT_EQ(block["window"]["n_samples"].as_uint(), steady.samples);
  EXPECT_EQ(block["state"]["tpot_p50"].as_string(), "Plateau");
  EXPECT_EQ(block["state"]["tpot_p90"].as_string(), "Plateau");
}

TEST(Trend, OfALineAndOfNothing) {
  std::vector<double> line;
  for (int i = 0; i < 50; ++i) line.push_back(100 + i);
  const Trend trend = trend_of(line);
  EXPECT_NEAR(trend.drift, 49 / 124.5, 1e-9);
  EXPECT_NEAR(trend.drift_error, 0, 1e-9);
  EXPECT_LT(trend.p_value, 1e-9);
  const Trend flat = trend_of(std::vector<double>(20, 5.0));
  EXPECT_EQ(flat.drift, 0);
  EXPECT_EQ(flat.p_value, 1);
  EXPECT_TRUE(std::isinf(trend_of(std::vector<double>{1, 2}).drift_error));
}

// Mann and Kendall's own statistic where no two values correlate: S = 6 of 6 pairs, n = 4.
TEST(Trend, PairsOfAShortSeries) {
  const Trend trend = trend_of(std::vector<double>{1, 2, 3, 4});
  const double z = 5 / std::sqrt(4.0 * 3 * 13 / 18);
  EXPECT_NEAR(trend.p_value, std::erfc(z / std::sqrt(2.0)), 1e-12);
}

TEST(Break, FindsTheStep) {
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back((i < 25 ? 10.0 : 13.0) + 0.1 * (i % 3));
  const Break found = break_of(values);
  EXPECT_EQ(found.at, 25U);
  EXPECT_LT(found.p_value, 0.001);
  EXPECT_NEAR(found.shift, 0.3, 0.01);
  EXPECT_LT(found.step_error, found.line_error);
}

}  // namespace
}  // namespace assay::metrics
