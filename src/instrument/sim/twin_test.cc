#include "sim/twin.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/twin_cause.h"
#include "sim/what_if.h"

namespace assay::sim {
namespace {

Workload hundreds() {
  return {[](Rng& rng) { return 500 + static_cast<std::uint32_t>(rng.below(300)); },
          [](Rng& rng) { return 100 + static_cast<std::uint32_t>(rng.below(100)); }};
}

Scenario one_card() {
  Scenario out;
  out.model = "llama3.1-8b";
  out.hardware = "h100-sxm";
  out.precision = "fp8";
  out.parallel = "tp=1";
  return out;
}

// The points of a measured curve of this system.
std::vector<MeasuredPoint> measure(const ClusterSpec& truth, const Workload& workload,
                                   const std::vector<std::uint32_t>& levels) {
  std::vector<MeasuredPoint> out;
  for (const std::uint32_t c : levels) {
    const SimPoint p = simulate_closed(truth, workload, c);
    out.push_back({c, p.ttft_ms.mean, p.tpot_ms.mean, 0, p.system_tps});
  }
  return out;
}

// A site whose fixed costs are not the catalogue's.
ClusterSpec site(ClusterSpec spec) {
  spec.deployment.constants.layer_s *= 1.4;
  spec.deployment.constants.sequence_s *= 0.7;
  spec.deployment.constants.request_s *= 2;
  spec.deployment.constants.weight_bandwidth *= 0.9;
  return spec;
}

const std::vector<std::uint32_t> kTwinLevels = {1, 4, 16, 32, 64};

// The fit recovers a system with five changed constants from eight of its points.
TEST(Twin, recovers_a_system_that_differs_in_the_five) {
  const Catalogue catalogue = Catalogue::builtin();
  const ClusterSpec spec = *make_cluster_spec(catalogue, one_card());
  const std::vector<MeasuredPoint> measured = measure(site(spec), hundreds(), kTwinLevels);
  const Twin twin = fit_twin(spec, hundreds(), measured);
  EXPECT_GT(twin.tpot_error_before, 0.03);
  EXPECT_LT(twin.tpot_error_after, 0.01);
  EXPECT_LT(twin.ttft_error_after, 0.03);
  EXPECT_LT(twin.tpot_error_max, 0.02);

  // The saved file makes the same system when it is read again.
  Catalogue mine = Catalogue::builtin();
  const auto added = mine.add_text(
      twin_yaml(spec, twin, {{{27, 27, 1}}, {{32, 40, 1}}, 0.5}, "a test"), "twin.yaml");
  ASSERT_TRUE(added) << added.error().message;
  const ClusterSpec again = *make_cluster_spec(mine, one_card());
  const SimPoint p = simulate_closed(again, hundreds(), 16);
  EXPECT_NEAR(p.tpot_ms.mean / measured[2].tpot_ms_mean, 1, 0.01);
  // And it has the load of its system, and names what it was compared with.
  ASSERT_TRUE(mine.calibration().load);
  EXPECT_EQ(mean_tokens(mine.calibration().load->input), 27);
  EXPECT_EQ(mean_tokens(mine.calibration().load->output), 36);
  EXPECT_EQ(mine.calibration().load->cached_share, 0.5);
  EXPECT_EQ(p.trust.level, Trust::Level::compared);
  EXPECT_NE(p.trust.says.find("5 measured points"), std::string::npos) << p.trust.says;
}

TEST(Twin, reads_curves_and_their_mistakes) {
  const auto good = read_measured(*Json::parse(
      R"({"points": [{"concurrency": 4, "tpot_ms_mean": 9.5, "ttft_ms_mean": 80}, {"concurrency": 8, "tpot_ms": 10}]})"));
  ASSERT_TRUE(good) << good.error().message;
  EXPECT_EQ(good->size(), 2U);
  EXPECT_EQ(good->at(1).ttft_ms_mean, 0);
  // As in curve_summary.json: points without a measurement, and a burst, are no levels.
  const auto curve = read_measured(*Json::parse(
      R"({"points": [{"concurrency": 4, "measured": true, "offline": "none", "tpot_ms_mean": 5},
                     {"concurrency": 8, "measured": false},
                     {"concurrency": 999, "measured": true, "offline": "dedicated"}]})"));
  ASSERT_TRUE(curve) << curve.error().message;
  EXPECT_EQ(curve->size(), 1u);
  EXPECT_FALSE(read_measured(*Json::parse(R"({"points": []})")));
  EXPECT_FALSE(read_measured(*Json::parse(R"({"points": [{"concurrency": 4}]})")));
}

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

TEST(WhatIf, what_was_not_measured_or_not_judged_has_no_figure_and_no_range) {
  const ClusterSpec now = *make_cluster_spec(Catalogue::builtin(), one_card());
  std::vector<MeasuredPoint> measured = measure(now, hundreds(), {1, 8, 32});
  measured[1].ttft_ms_mean = 0;
  const Twin twin = fit_twin(now, hundreds(), measured);
  const WhatIf same = ask_what_if(now, hundreds(), measured, twin);
  EXPECT_EQ(same.points[1].ttft_ms.value, 0);
  EXPECT_NEAR(same.points[1].tpot_ms.value, measured[1].tpot_ms_mean, 1e-9);
  EXPECT_EQ(same.points[1].tpot_ms.low, 0);
}

TEST(ChangedScenario, changes_what_is_named_and_keeps_the_rest) {
  Scenario now = one_card();
  now.parallel = "tp=8";
  now.gpus = 16;
  const auto of = [&](const char* change) { return changed_scenario(now, change); };
  EXPECT_EQ(of("cards=32")->gpus, 32U);
  EXPECT_EQ(of("cards=32")->parallel, "tp=8");
  EXPECT_EQ(of("tp=4")->parallel, "tp=4,dp=1,ep=1");
  EXPECT_EQ(of("tp=4")->gpus, 16U);
  // 16 cards hold no worker of 24.
  EXPECT_EQ(of("tp=8,pp=3")->gpus, 24U);
  EXPECT_EQ(of(" MTP = 0 , hardware=b200-sxm")->mtp, 0U);
  EXPECT_EQ(of("mtp=0,hardware=b200-sxm")->hardware, "b200-sxm");
  // Experts over all ranks stay so when there are more ranks.
  now.parallel = "tp=1,dp=8";
  EXPECT_EQ(of("dp=16")->parallel, "tp=1,dp=16,ep=16");
  now.parallel = "tp=8,ep=2";
  EXPECT_EQ(of("tp=4")->parallel, "tp=4,dp=1,ep=2");
  for (const char* wrong : {"", "cards", "cards=", "cards=0", "cards=x", "speed=2", "tp=0",
                            "tp=3.5", "mtp=9", "cards=100001"}) {
    EXPECT_FALSE(of(wrong)) << wrong;
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
