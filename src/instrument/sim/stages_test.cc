#include "sim/stages.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/catalogue.h"

namespace assay::sim {
namespace {

// The reference's H100 figures (batch 10), average and P50 in ms, and the allowed error of the
// model: good at both ends, up to a quarter low between (spec, section 9).
TEST(Stages, dlrmv3_reproduces_the_reference_within_its_stated_errors) {
  const Catalogue catalogue = Catalogue::builtin();
  struct Row {
    unsigned gpus;
    double qps, average, p50, p90, within;
  };
  const Row rows[] = {{1, 300, 78, 74, 99, 0.10},
                      {2, 500, 86, 75, 101, 0.25},
                      {4, 800, 70, 69, 85, 0.22},
                      {8, 1000, 60, 60, 67, 0.06}};
  for (const Row& row : rows) {
    const SimPoint p = simulate_stages(*catalogue.model("dlrmv3"), *catalogue.hardware("h100-sxm"),
                                       row.gpus, row.qps, 200'000, 1);
    EXPECT_NEAR(p.latency_ms.mean / row.average, 1, row.within) << row.gpus;
    EXPECT_NEAR(p.latency_ms.p50 / row.p50, 1, row.within) << row.gpus;
    EXPECT_NEAR(p.latency_ms.p90 / row.p90, 1, row.within) << row.gpus;
    EXPECT_NEAR(p.qps, row.qps, 0.02 * row.qps);
  }
}

// 10 / 8 ms on the shared host, 345 a card.
TEST(Stages, capacity_is_the_narrowest_stage) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto capacity = [&](unsigned gpus) {
    return stage_capacity(*catalogue.model("dlrmv3"), *catalogue.hardware("h100-sxm"), gpus);
  };
  EXPECT_NEAR(capacity(1), 345, 1);
  EXPECT_NEAR(capacity(8), 1250, 1);
}

// 260 PFLOP at 42 % of eight cards' FP8 is 17 s: the published 0.059 videos a second.
TEST(Stages, a_video_takes_its_flops) {
  const Catalogue catalogue = Catalogue::builtin();
  const SimPoint p =
      simulate_stages(*catalogue.model("wan2.2"), *catalogue.hardware("b300-sxm"), 8, 0, 100, 1);
  EXPECT_NEAR(p.qps, 0.059, 0.002);
  EXPECT_NEAR(p.latency_ms.mean, 17'200, 300);
}

// More at once: more a second up to the narrowest stage, and beyond it only longer waits.
TEST(Stages, a_closed_loop_depends_on_its_concurrency) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto at = [&](const char* model, const char* card, std::uint32_t c) {
    return simulate_stages_closed(*catalogue.model(model), *catalogue.hardware(card), 8, c, 1);
  };
  const SimPoint one = at("dlrmv3", "h100-sxm", 1);
  const SimPoint eight = at("dlrmv3", "h100-sxm", 8);
  const SimPoint many = at("dlrmv3", "h100-sxm", 512);
  // Fewer than a batch: they go together, as soon as all have come.
  EXPECT_NEAR(eight.qps / one.qps, 8, 0.1);
  EXPECT_NEAR(eight.latency_ms.mean / one.latency_ms.mean, 1, 0.02);
  EXPECT_NEAR(many.qps, 1250, 15);
  EXPECT_NEAR(many.latency_ms.mean, 512 / 1250.0 * 1e3, 8);
  EXPECT_EQ(many.in_flight_mean, 512);
  EXPECT_GE(many.queries, 6 * 512U);
  // A video takes all cards: more at once wait, and the rate stays the same.
  const SimPoint video = at("wan2.2", "b300-sxm", 1);
  const SimPoint four = at("wan2.2", "b300-sxm", 4);
  EXPECT_NEAR(four.qps / video.qps, 1, 0.01);
  EXPECT_NEAR(four.latency_ms.mean / video.latency_ms.mean, 4, 0.05);
}

// One server with a constant service is M/D/1.
TEST(Stages, one_stage_is_an_m_d_1_queue) {
  ModelSpec model;
  model.stages.push_back({.name = "one", .seconds = 0.01});
  const double rho = 0.7;
  const SimPoint p =
      simulate_stages(model, *Catalogue::builtin().hardware("h100"), 1, rho / 0.01, 400'000, 3);
  EXPECT_NEAR(p.latency_ms.mean, 10 * (1 + rho / (2 * (1 - rho))), 0.4);
}

}  // namespace
}  // namespace assay::sim
