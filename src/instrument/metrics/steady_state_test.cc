#include "metrics/steady_state.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "base/rng.h"
#include "metrics/testing_drift.h"
#include "metrics/trend.h"

namespace assay::metrics {
namespace {

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
