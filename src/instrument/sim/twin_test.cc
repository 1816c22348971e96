#include "sim/twin.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/testing_site.h"
#include "sim/twin_cause.h"
#include "sim/what_if.h"

namespace assay::sim {
namespace {

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
  // A release is one backend's: another backend is of no known release until one is named.
  now.backend_version = "0.11";
  EXPECT_EQ(of("cards=32")->backend_version, "0.11");
  EXPECT_EQ(of("backend=sglang")->backend_version, "");
  EXPECT_EQ(of("backend=sglang,backend_version=0.5.9")->backend_version, "0.5.9");
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

}  // namespace
}  // namespace assay::sim
