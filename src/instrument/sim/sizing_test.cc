#include "sim/sizing.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/testing_site.h"

namespace assay::sim {
namespace {

TEST(Sizing, what_it_promises_holds_and_a_third_more_does_not) {
  const Catalogue catalogue = Catalogue::builtin();
  const ClusterSpec spec = *make_cluster_spec(catalogue, one_card());
  const Slo slo = *parse_slo("ttft=300ms,tpot=12ms");
  SizingOptions options;
  options.queries = 1500;
  const Sizing sized = size_for(spec, hundreds(), slo, 100, options);
  ASSERT_GT(sized.replica_qps, 1);
  EXPECT_TRUE(slo.met(simulate_open(spec, hundreds(), 0.93 * sized.replica_qps, 3000)));
  EXPECT_FALSE(slo.met(simulate_open(spec, hundreds(), 1.33 * sized.replica_qps, 3000)));
  EXPECT_GE(sized.replicas, std::ceil(100 / sized.replica_qps));
  EXPECT_EQ(sized.gpus, sized.replicas);
}

TEST(Sizing, limits_nobody_can_meet_say_so) {
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_card());
  SizingOptions options;
  options.queries = 200;
  const Sizing sized = size_for(spec, hundreds(), *parse_slo("tpot=0.01ms"), 10, options);
  EXPECT_EQ(sized.replica_qps, 0);
  EXPECT_EQ(sized.replicas, 0U);
}

TEST(Sizing, finds_the_same_edge_from_any_first_rate) {
  const ClusterSpec spec = *make_cluster_spec(Catalogue::builtin(), one_card());
  const Slo slo = *parse_slo("ttft=300ms,tpot=12ms");
  SizingOptions options;
  options.queries = 1500;
  const double edge = size_for(spec, hundreds(), slo, 1, options).replica_qps;
  for (const double factor : {0.5, 1.5}) {
    options.first_qps = factor * edge;
    const double found = size_for(spec, hundreds(), slo, 1, options).replica_qps;
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

}  // namespace
}  // namespace assay::sim
