// What takes many fits of a twin.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/testing_site.h"
#include "sim/twin.h"
#include "sim/twin_cause.h"
#include "sim/what_if.h"

namespace assay::sim {
namespace {

TEST(HeldOut, a_point_that_its_neighbours_do_not_explain_is_seen) {
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_card());
  std::vector<MeasuredPoint> measured = measure(site(spec), hundreds(), {1, 8, 32, 64});
  Twin twin = fit_twin(spec, hundreds(), measured);
  judge_held_out(spec, hundreds(), measured, twin);
  ASSERT_EQ(twin.held_out.size(), measured.size());
  EXPECT_LT(held_out_error(twin, &HeldOut::tpot), 0.02);
  EXPECT_LT(held_out_error(twin, &HeldOut::throughput), 0.02);
  // The fit bends towards an odd point; without the point it does not.
  measured[1].tpot_ms_mean *= 1.5;
  twin = fit_twin(spec, hundreds(), measured);
  judge_held_out(spec, hundreds(), measured, twin);
  EXPECT_NEAR(twin.held_out[1].tpot, 1.5, 0.05);
  // Three points leave too few to judge the fourth by.
  measured.resize(3);
  judge_held_out(spec, hundreds(), measured, twin);
  EXPECT_TRUE(twin.held_out.empty());
  EXPECT_EQ(held_out_error(twin, &HeldOut::tpot), 0);
}

TEST(WhatIf, a_change_of_the_real_system_comes_out_as_asked) {
  const Catalogue catalogue = Catalogue::builtin();
  const ClusterSpec now = *make_cluster_spec(catalogue, one_card());
  const std::vector<MeasuredPoint> measured = measure(site(now), hundreds(), kTwinLevels);
  Twin twin = fit_twin(now, hundreds(), measured);
  judge_held_out(now, hundreds(), measured, twin);
  // Half as wide a worker reads half the weights: a curve alone does not tell the cost of reading
  // from that of a layer, so that change is known less well.
  const std::vector<std::pair<const char*, double>> changes = {{"cards=2", 0.01}, {"tp=2", 0.08}};
  for (const auto& [change, near] : changes) {
    const auto scenario = changed_scenario(one_card(), change);
    ASSERT_TRUE(scenario) << scenario.error().message;
    const auto made = make_cluster_spec(catalogue, *scenario);
    ASSERT_TRUE(made) << made.error().message;
    const ClusterSpec& then = *made;
    const WhatIf said = ask_what_if(then, hundreds(), measured, twin);
    const std::vector<MeasuredPoint> truth = measure(site(then), hundreds(), kTwinLevels);
    ASSERT_EQ(said.points.size(), truth.size());
    EXPECT_EQ(said.gpus, then.gpus());
    for (std::size_t i = 0; i < truth.size(); ++i) {
      const Estimate& tpot = said.points[i].tpot_ms;
      EXPECT_NEAR(tpot.value / truth[i].tpot_ms_mean, 1, near)
          << change << " at " << kTwinLevels[i];
      EXPECT_NEAR(said.points[i].system_tps.value / truth[i].system_tps, 1, near) << change;
      EXPECT_LT(tpot.low, tpot.value);
      EXPECT_GT(tpot.high, tpot.value);
      EXPECT_TRUE(tpot.low < truth[i].tpot_ms_mean && truth[i].tpot_ms_mean < tpot.high);
    }
  }
}

struct Planted {
  const char* as_if = "";
  void (*change)(ClusterSpec&) = nullptr;
};

class Cause : public testing::TestWithParam<Planted> {};

TEST_P(Cause, a_planted_one_is_named_first) {
  const Workload workload = {
      [](Rng& rng) { return static_cast<std::uint32_t>(3000 + rng.below(3000)); },
      [](Rng& rng) { return static_cast<std::uint32_t>(40 + rng.below(40)); }};
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_card());
  ClusterSpec truth = site(spec);
  GetParam().change(truth);
  const auto measured = measure(truth, workload, {1, 16, 48});
  const Twin twin = fit_twin(spec, workload, measured);
  const auto causes = causes_of(spec, workload, measured, twin);
  ASSERT_FALSE(causes.empty());
  EXPECT_EQ(causes.front().as_if, GetParam().as_if);
  EXPECT_LT(causes.front().misfit, 0.5);
  EXPECT_LT(causes.front().tpot_error, std::max(0.02, twin.tpot_error_after));
  EXPECT_NE(residual_text(measured, twin).find(" times the twin's"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Planted, Cause,
    testing::Values(Planted{"at most 8 sequences ran at a time",
                            [](ClusterSpec& s) { s.deployment.backend.seqs_max = 8; }},
                    Planted{"a step took at most 512 tokens of prompts",
                            [](ClusterSpec& s) { s.deployment.backend.token_budget = 512; }}));

TEST(Cause, a_twin_near_its_curve_has_nothing_to_explain) {
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_card());
  const auto measured = measure(site(spec), hundreds(), kTwinLevels);
  EXPECT_TRUE(causes_of(spec, hundreds(), measured, fit_twin(spec, hundreds(), measured)).empty());
}

}  // namespace
}  // namespace assay::sim
