#include "sim/sizing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/twin.h"

namespace assay::sim {
namespace {

Scenario one_rack() {
  Scenario out;
  out.model = "llama3.1-8b";
  out.hardware = "h100-sxm";
  out.precision = "fp8";
  out.parallel = "tp=1";
  return out;
}

Workload thousand() {
  const auto draw = [](Rng& rng) { return 500 + static_cast<std::uint32_t>(rng.below(300)); };
  const auto out = [](Rng& rng) { return 100 + static_cast<std::uint32_t>(rng.below(100)); };
  return {draw, out};
}

TEST(Sizing, what_it_promises_holds_and_a_third_more_does_not) {
  const Catalogue catalogue = Catalogue::builtin();
  const ClusterSpec spec = *make_cluster_spec(catalogue, one_rack());
  const Slo slo = *parse_slo("ttft=300ms,tpot=12ms");
  SizingOptions options;
  options.queries = 1500;
  const Sizing sized = size_for(spec, thousand(), slo, 100, options);
  ASSERT_GT(sized.replica_qps, 1);
  EXPECT_TRUE(slo.met(simulate_open(spec, thousand(), 0.93 * sized.replica_qps, 3000)));
  EXPECT_FALSE(slo.met(simulate_open(spec, thousand(), 1.33 * sized.replica_qps, 3000)));
  EXPECT_GE(sized.replicas, std::ceil(100 / sized.replica_qps));
  EXPECT_EQ(sized.gpus, sized.replicas);
}

TEST(Sizing, limits_nobody_can_meet_say_so) {
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_rack());
  SizingOptions options;
  options.queries = 200;
  const Sizing sized = size_for(spec, thousand(), *parse_slo("tpot=0.01ms"), 10, options);
  EXPECT_EQ(sized.replica_qps, 0);
  EXPECT_EQ(sized.replicas, 0U);
}

TEST(Sizing, finds_the_same_edge_from_any_first_rate) {
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_rack());
  const Slo slo = *parse_slo("ttft=300ms,tpot=12ms");
  SizingOptions options;
  options.queries = 1500;
  const double edge = size_for(spec, thousand(), slo, 1, options).replica_qps;
  for (const double factor : {0.5, 1.5}) {
    options.first_qps = factor * edge;
    const double found = size_for(spec, thousand(), slo, 1, options).replica_qps;
    EXPECT_NEAR(found / edge, 1, 0.05) << factor;
  }
}

TEST(Slo, reads_what_users_write) {
  const auto slo = parse_slo("ttft=1s, tpot_p99=30, latency_mean<=4s");
  ASSERT_TRUE(slo) << slo.error().message;
  SimPoint point;
  point.queries = 1;
  const auto met = [&](double ttft_p90, double tpot_p99, double latency_mean) {
    point.ttft_ms = {.mean = 1e9, .p50 = 1e9, .p90 = ttft_p90, .p99 = 1e9};
    point.tpot_ms = {.mean = 1e9, .p50 = 1e9, .p90 = 1e9, .p99 = tpot_p99};
    point.latency_ms = {.mean = latency_mean, .p50 = 1e9, .p90 = 1e9, .p99 = 1e9};
    return slo->met(point);
  };
  EXPECT_TRUE(met(1000, 30, 4000));
  EXPECT_FALSE(met(1001, 30, 4000));
  EXPECT_FALSE(met(1000, 31, 4000));
  EXPECT_FALSE(met(1000, 30, 4001));
  EXPECT_FALSE(parse_slo("speed=3"));
  EXPECT_FALSE(parse_slo("ttft"));
  EXPECT_FALSE(parse_slo("ttft=-1ms"));
  EXPECT_FALSE(parse_slo("ttft_p98=1ms"));
}

// The fit recovers a system with five changed constants from eight of its points.
TEST(Twin, recovers_a_system_that_differs_in_the_five) {
  const Catalogue catalogue = Catalogue::builtin();
  const ClusterSpec spec = *make_cluster_spec(catalogue, one_rack());
  ClusterSpec truth = spec;
  truth.deployment.constants.layer_s *= 1.4;
  truth.deployment.constants.sequence_s *= 0.7;
  truth.deployment.constants.request_s *= 2;
  truth.deployment.constants.weight_bandwidth *= 0.9;
  std::vector<MeasuredPoint> measured;
  for (const std::uint32_t c : {1U, 2U, 4U, 8U, 16U, 32U, 64U}) {
    const SimPoint p = simulate_closed(truth, thousand(), c);
    measured.push_back({c, p.ttft_ms.mean, p.tpot_ms.mean, 0});
  }
  const Twin twin = fit_twin(spec, thousand(), measured);
  EXPECT_GT(twin.tpot_error_before, 0.03);
  EXPECT_LT(twin.tpot_error_after, 0.01);
  EXPECT_LT(twin.ttft_error_after, 0.03);
  EXPECT_LT(twin.tpot_error_max, 0.02);

  // The saved file makes the same system when it is read again.
  Catalogue mine = Catalogue::builtin();
  const auto added = mine.add_text(
      twin_yaml(spec, twin, {{{27, 27, 1}}, {{32, 40, 1}}, 0.5}, "a test"), "twin.yaml");
  ASSERT_TRUE(added) << added.error().message;
  const ClusterSpec again = *make_cluster_spec(mine, one_rack());
  const SimPoint p = simulate_closed(again, thousand(), 16);
  EXPECT_NEAR(p.tpot_ms.mean / measured[4].tpot_ms_mean, 1, 0.01);
  // And it has the load of its system, and names what it was compared with.
  ASSERT_TRUE(mine.calibration().load);
  EXPECT_EQ(mean_tokens(mine.calibration().load->input), 27);
  EXPECT_EQ(mean_tokens(mine.calibration().load->output), 36);
  EXPECT_EQ(mine.calibration().load->cached_share, 0.5);
  EXPECT_EQ(p.trust.level, Trust::Level::compared);
  EXPECT_NE(p.trust.says.find("7 measured points"), std::string::npos) << p.trust.says;
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

}  // namespace
}  // namespace assay::sim
