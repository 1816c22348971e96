// How often the window is found where it is, over hundreds of runs. Seeds are fixed, so a count is
// the same on every machine.
#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "metrics/steady_state.h"
#include "metrics/testing_drift.h"

namespace assay::metrics {
namespace {

constexpr std::uint64_t kSeeds = 1000;
constexpr std::uint64_t kFewerSeeds = 300;

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

}  // namespace
}  // namespace assay::metrics
