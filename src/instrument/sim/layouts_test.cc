#include "sim/layouts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/fluid.h"
#include "sim/step_model.h"

namespace assay::sim {
namespace {

Workload drawn(std::uint32_t input, std::uint32_t output) {
  const auto around = [](std::uint32_t mean) {
    return [mean](Rng& rng) { return mean / 2 + static_cast<std::uint32_t>(rng.below(mean)); };
  };
  return {.input = around(input), .output = around(output)};
}

Scenario system_of(std::string model, std::string hardware, std::string precision,
                   std::uint32_t gpus) {
  Scenario out;
  out.model = std::move(model);
  out.hardware = std::move(hardware);
  out.precision = std::move(precision);
  out.backend = "sglang";
  out.gpus = gpus;
  return out;
}

TEST(Fluid, means_of_a_load) {
  const MeanLoad load = mean_load(drawn(1000, 400));
  EXPECT_NEAR(load.input, 1000, 20);
  EXPECT_NEAR(load.output, 400, 10);
  EXPECT_NEAR(load.held, 400 * (1 + 1.0 / 12), 12);  // 1 + variance / mean^2
}

// The estimate has to rank layouts as the simulation does; a third off is as far as it may be.
TEST(Fluid, estimates_what_the_simulation_gives) {
  const Catalogue catalogue = Catalogue::builtin();
  const Workload load = drawn(1000, 1000);
  const MeanLoad mean = mean_load(load);
  for (const char* const parallel : {"tp=8", "tp=1,dp=8", "tp=8,ep=8", "tp=2,dp=4"}) {
    Scenario scenario = system_of("deepseek-r1", "b200-sxm", "fp8", 8);
    scenario.parallel = parallel;
    scenario.mtp = 0;
    const ClusterSpec spec = *make_cluster_spec(catalogue, scenario);
    for (const std::uint32_t c : {8U, 128U, 1024U}) {
      const double simulated = simulate_closed(spec, load, c).system_tps;
      const double estimated = fluid_at(spec, mean, c).tokens_per_s;
      EXPECT_NEAR(std::log(estimated / simulated), 0, 0.3) << parallel << " at " << c;
    }
  }
}

TEST(Fluid, within_a_limit_is_the_largest_batch_that_keeps_it) {
  const Catalogue catalogue = Catalogue::builtin();
  Scenario scenario = system_of("llama3.1-70b", "h100-sxm", "fp8", 4);
  scenario.parallel = "tp=4";
  const ClusterSpec spec = *make_cluster_spec(catalogue, scenario);
  const MeanLoad mean = mean_load(drawn(1000, 1000));
  const Fluid at_most = fluid_within(spec, mean, 0.025);
  EXPECT_LE(at_most.tpot_s, 0.025);
  EXPECT_GT(at_most.tpot_s, 0.024);
  EXPECT_GT(fluid_within(spec, mean, 0.04).tokens_per_s, at_most.tokens_per_s);
  EXPECT_EQ(fluid_within(spec, mean, 0.0001).tokens_per_s, 0);
}

TEST(Layouts, experts_may_be_wider_than_a_server_and_prefill_stays_in_a_rack) {
  const Catalogue catalogue = Catalogue::builtin();
  bool wide = false;
  for (const Scenario& one :
       layouts_of(catalogue, system_of("deepseek-r1", "h200-sxm", "fp8", 64), true)) {
    const ClusterSpec spec = *make_cluster_spec(catalogue, one);
    wide = wide || (!spec.prefill && spec.deployment.parallelism.gpus() == 64);
    if (!spec.prefill) continue;
    // Two racks of 32 are two equal parts.
    EXPECT_EQ(spec.workers % 2, 0U) << one.disagg;
    EXPECT_EQ(spec.prefill_workers % 2, 0U) << one.disagg;
  }
  EXPECT_TRUE(wide);
  const auto step_of = [&](const char* hardware, const char* parallel) {
    Scenario scenario = system_of("deepseek-r1", hardware, "fp8", 64);
    scenario.parallel = parallel;
    const StepModel model(make_cluster_spec(catalogue, scenario)->deployment);
    return model.parts({.sequences = 64, .context = 64e3, .all_sequences = 4096}).communication;
  };
  // Attention DP may leave experts unspread.
  EXPECT_GT(step_of("h200-sxm", "tp=1,dp=8,ep=1"), 0);
  EXPECT_LT(step_of("h200-sxm", "tp=1,dp=8,ep=1"), step_of("h200-sxm", "tp=1,dp=8"));
  // Within NVLink nothing crosses; from 8 to 64 ranks most bytes leave the server.
  EXPECT_GT(step_of("h200-sxm", "tp=1,dp=64"), 3 * step_of("h200-sxm", "tp=1,dp=8"));
  EXPECT_LT(step_of("gb300", "tp=1,dp=64"), 3 * step_of("gb300", "tp=1,dp=8"));
}

TEST(Layouts, fill_the_accelerators_exactly) {
  const Catalogue catalogue = Catalogue::builtin();
  const Scenario rack = system_of("deepseek-r1", "gb300", "nvfp4", 24);
  const auto layouts = layouts_of(catalogue, rack, true);
  EXPECT_GT(layouts.size(), 20U);
  bool wide = false;
  bool apart = false;
  for (const Scenario& one : layouts) {
    const auto spec = make_cluster_spec(catalogue, one);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_EQ(spec->gpus(), 24U);
    wide = wide || spec->deployment.parallelism.gpus() == 24;
    apart = apart || spec->prefill;
  }
  EXPECT_TRUE(wide);
  EXPECT_TRUE(apart);
}

TEST(Layouts, without_a_number_the_fewest_accelerators_that_hold_the_model) {
  const auto layouts =
      layouts_of(Catalogue::builtin(), system_of("deepseek-r1", "h200-sxm", "fp8", 0), false);
  ASSERT_FALSE(layouts.empty());
  for (const Scenario& one : layouts) {
    EXPECT_EQ(make_cluster_spec(Catalogue::builtin(), one)->gpus(), 8U);
  }
}

TEST(Layouts, the_users_own_is_the_only_one) {
  Scenario own = system_of("deepseek-r1", "h200-sxm", "fp8", 8);
  own.parallel = "tp=8";
  const auto layouts = layouts_of(Catalogue::builtin(), own, true);
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_EQ(layouts.front().parallel, "tp=8");
}

// A slow twin: every layout simulated. The search may miss it by little.
TEST(Layouts, best_is_as_good_as_the_best_of_all) {
  const Catalogue catalogue = Catalogue::builtin();
  const Workload load = drawn(800, 600);
  const SimulateOptions options{.queries_per_slot = 6};
  for (const std::uint32_t c : {8U, 1024U}) {
    const Scenario node = system_of("deepseek-r1", "b200-sxm", "fp8", 8);
    double most = 0;
    for (const Scenario& one : layouts_of(catalogue, node, false)) {
      const ClusterSpec spec = *make_cluster_spec(catalogue, one);
      most = std::max(most, simulate_closed(spec, load, c, options).system_tps);
    }
    const auto best = best_at(catalogue, node, load, c, options);
    ASSERT_FALSE(best.best.empty());
    EXPECT_GE(best.best.front().point.system_tps, 0.97 * most) << c;
  }
}

TEST(Layouts, an_offline_run_takes_the_layout_and_load_that_serve_most) {
  const Catalogue catalogue = Catalogue::builtin();
  const Workload load = drawn(400, 300);
  const SimulateOptions options{.queries_per_slot = 6};
  const Scenario node = system_of("llama3.1-70b", "h100-sxm", "fp8", 8);
  double most = 0;
  for (const char* const parallel : {"tp=2", "tp=4", "tp=8"}) {
    Scenario one = node;
    one.parallel = parallel;
    const ClusterSpec spec = *make_cluster_spec(catalogue, one);
    for (std::uint32_t c = 256; c <= 2048; c *= 2) {
      most = std::max(most, simulate_closed(spec, load, c, options).system_tps);
    }
  }
  const LayoutSearch found = best_offline(catalogue, node, load, true, options);
  ASSERT_FALSE(found.best.empty());
  EXPECT_GE(found.best.front().point.system_tps, 0.96 * most);
}

TEST(Layouts, a_server_run_keeps_its_limits_and_no_simulated_layout_does_better) {
  const Catalogue catalogue = Catalogue::builtin();
  const Workload load = drawn(400, 200);
  const Scenario node = system_of("llama3.1-70b", "h100-sxm", "fp8", 4);
  const Slo slo = *parse_slo("ttft_p99=2s,tpot_p99=40ms");
  const LayoutSearch found = best_within(catalogue, node, load, slo, true, {});
  ASSERT_FALSE(found.best.empty());
  const LaidOut& first = found.best.front();
  EXPECT_TRUE(slo.met(first.point));
  SizingOptions sizing;
  sizing.queries = 2000;
  for (const char* const parallel : {"tp=2", "tp=4"}) {
    Scenario one = node;
    one.parallel = parallel;
    const auto sized = size_for(*make_cluster_spec(catalogue, one), load, slo, 0, sizing);
    EXPECT_GE(first.point.qps, 0.96 * sized.at_capacity.qps) << parallel;
  }
}

// Large systems are several equal parts.
TEST(Layouts, of_many_accelerators_are_copies_of_a_part) {
  const auto layouts =
      layouts_of(Catalogue::builtin(), system_of("llama3.1-405b", "gb300", "nvfp4", 288), true);
  bool apart = false;
  const Catalogue catalogue = Catalogue::builtin();
  for (const Scenario& one : layouts) {
    const ClusterSpec spec = *make_cluster_spec(catalogue, one);
    EXPECT_EQ(spec.gpus(), 288U);
    if (!spec.prefill) continue;
    apart = true;
    EXPECT_EQ(spec.workers % 4, 0U);
    EXPECT_EQ(spec.prefill_workers % 4, 0U);
  }
  EXPECT_TRUE(apart);
}

}  // namespace
}  // namespace assay::sim
