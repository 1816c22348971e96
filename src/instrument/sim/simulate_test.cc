// Points of whole simulations: open loops, monotonicity over random systems, and the needs of a
// user's own system.
#include "sim/simulate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sim/scenario.h"
#include "sim/testing_lengths.h"

namespace assay::sim {
namespace {

ClusterSpec cluster_of(const Scenario& scenario,
                       const Catalogue& catalogue = Catalogue::builtin()) {
  auto out = make_cluster_spec(catalogue, scenario);
  EXPECT_TRUE(out) << out.error().message;
  return *out;
}

Scenario one_gpu(const char* backend = "vllm") {
  Scenario out;
  out.model = "llama3.1-8b";
  out.hardware = "h100-sxm";
  out.precision = "fp8";
  out.backend = backend;
  out.parallel = "tp=1";
  return out;
}

// One reply in a thousand is thirty times as long as the median; queries in flight at the end must
// not count against the system.
TEST(OpenLoop, far_below_capacity_gives_what_is_asked_of_it_however_long_the_tail) {
  const LengthDraw tail = [](Rng& rng) {
    return 1 + static_cast<std::uint32_t>(200 * std::exp(1.1 * rng.normal()));
  };
  const SimPoint p = simulate_open(cluster_of(one_gpu()), {exactly(300), tail}, 4, 4000);
  EXPECT_NEAR(p.qps / 4, 1, 0.06);
  EXPECT_NEAR(p.system_tps / (p.qps * p.output_tokens_mean), 1, 0.08);
  EXPECT_NEAR(p.in_flight_mean / (p.qps * p.latency_ms.mean * 1e-3), 1, 0.08);
}

// Queries go to the workers in turn, so one of them with every n-th arrival stands for all.
TEST(OpenLoop, equal_parts_computed_once_are_the_whole) {
  Scenario four = one_gpu();
  four.gpus = 4;
  Scenario apart = one_gpu();
  apart.parallel.clear();
  apart.disagg = "2P:tp=1+4D:tp=1";
  for (const Scenario& scenario : {four, apart}) {
    const ClusterSpec spec = cluster_of(scenario);
    const Workload load{between(100, 900), between(50, 250)};
    const unsigned parts = open_replicas(spec, load, {});
    ASSERT_EQ(parts, scenario.disagg.empty() ? 4U : 2U);
    const SimPoint once = simulate_open(spec, load, 60, 12'000 / parts);
    const SimPoint whole = simulate_open(spec, load, 60, 12'000, {.alike_once = false});
    EXPECT_EQ(once.gpus, whole.gpus);
    EXPECT_NEAR(once.qps / whole.qps, 1, 0.03);
    EXPECT_NEAR(once.system_tps / whole.system_tps, 1, 0.03);
    EXPECT_NEAR(once.tpot_ms.p90 / whole.tpot_ms.p90, 1, 0.03);
    EXPECT_NEAR(once.ttft_ms.p50 / whole.ttft_ms.p50, 1, 0.05);
    EXPECT_NEAR(once.in_flight_mean / whole.in_flight_mean, 1, 0.05);
    EXPECT_NEAR(once.watts_mean / whole.watts_mean, 1, 0.03);
  }
}

// With prefill apart the parts do not mix, which moves little.
TEST(ClosedLoop, equal_parts_with_prefill_apart_are_near_the_whole) {
  Scenario apart = one_gpu();
  apart.parallel.clear();
  apart.disagg = "2P:tp=1+4D:tp=1";
  const ClusterSpec spec = cluster_of(apart);
  const Workload load{between(100, 900), between(50, 250)};
  const SimPoint once = simulate_closed(spec, load, 128, {.apart_once = true});
  const SimPoint whole = simulate_closed(spec, load, 128);
  EXPECT_EQ(once.replicas, 2U);
  EXPECT_EQ(whole.replicas, 1U);
  EXPECT_NEAR(once.system_tps / whole.system_tps, 1, 0.05);
  EXPECT_NEAR(once.tpot_ms.mean / whole.tpot_ms.mean, 1, 0.05);
}

TEST(OpenLoop, far_above_capacity_gives_what_a_closed_loop_gives) {
  const ClusterSpec spec = cluster_of(one_gpu());
  const Workload load{exactly(200), exactly(100)};
  const SimPoint most = simulate_closed(spec, load, 1024);
  const SimPoint open = simulate_open(spec, load, 3 * most.qps, 60'000);
  EXPECT_NEAR(open.system_tps / most.system_tps, 1, 0.15);
  EXPECT_GT(open.ttft_ms.p90, most.ttft_ms.p90);
}

SimulateOptions once(std::uint32_t queries_per_slot) {
  SimulateOptions out;
  out.queries_per_slot = queries_per_slot;
  out.queries_min = 0;
  return out;
}

TEST(ClosedLoop, an_idle_engine_meets_a_burst_as_one_prompt_and_then_the_rest) {
  const ClusterSpec spec = cluster_of(one_gpu());
  const Workload load{exactly(1000), exactly(2)};
  SimulateOptions options = once(1);
  const SimPoint apart = simulate_closed(spec, load, 2, options);
  EXPECT_GT(apart.ttft_ms.p99, 1.2 * apart.ttft_ms.p50);
  options.send_gap = {};
  const SimPoint together = simulate_closed(spec, load, 2, options);
  EXPECT_EQ(together.ttft_ms.p99, together.ttft_ms.p50);
}

TEST(ClosedLoop, turn_around_is_in_no_latency) {
  const ClusterSpec spec = cluster_of(one_gpu());
  const Workload load{exactly(300), exactly(50)};
  SimulateOptions options = once(10);
  options.turn_around = {};
  const SimPoint none = simulate_closed(spec, load, 1, options);
  options.turn_around = 1_s;
  const SimPoint slow = simulate_closed(spec, load, 1, options);
  // Instants are whole nanoseconds.
  EXPECT_NEAR(slow.latency_ms.mean, none.latency_ms.mean, 1e-5);
  EXPECT_NEAR(none.in_flight_mean, 1, 1e-9);
  const double busy_s = slow.latency_ms.mean * 1e-3;
  EXPECT_NEAR(slow.in_flight_mean, busy_s / (busy_s + 1), 1e-6);
  // One query after another: never more than one in latency and turn-around.
  EXPECT_NEAR(slow.qps, 1 / (busy_s + 1), 1e-6);
  EXPECT_NE(slow.unsteady.find("in flight"), std::string::npos);
  EXPECT_EQ(none.unsteady, "");
}

// Nine equal workers give nine times one, for any number of queries.
TEST(ClosedLoop, replicas_are_so_many_times_one) {
  Scenario scenario = one_gpu();
  const Workload load{between(100, 900), between(20, 400)};
  const SimPoint one = simulate_closed(cluster_of(scenario), load, 64);
  scenario.gpus = 9;
  const SimPoint nine = simulate_closed(cluster_of(scenario), load, 9 * 64);
  EXPECT_EQ(nine.replicas, 9U);
  EXPECT_EQ(nine.queries, 9 * one.queries);
  EXPECT_NEAR(nine.system_tps / one.system_tps, 9, 1e-9);
  EXPECT_NEAR(nine.in_flight_mean / one.in_flight_mean, 9, 1e-9);
  EXPECT_NEAR(nine.watts_mean / one.watts_mean, 9, 1e-9);
  EXPECT_EQ(nine.ttft_ms.p99, one.ttft_ms.p99);
  EXPECT_NEAR(nine.joules_per_token, one.joules_per_token, 1e-12);
}

// One of them, scaled, equals all of them behind their router.
TEST(ClosedLoop, replicas_computed_once_are_those_behind_a_router) {
  Scenario scenario = one_gpu();
  scenario.gpus = 4;
  scenario.router = "least_loaded";
  const ClusterSpec spec = cluster_of(scenario);
  const Workload load{between(100, 900), between(20, 400)};
  SimulateOptions options = once(20);
  for (const std::uint32_t c : {4U, 30U, 128U}) {
    options.alike_once = true;
    const SimPoint fast = simulate_closed(spec, load, c, options);
    options.alike_once = false;
    const SimPoint slow = simulate_closed(spec, load, c, options);
    EXPECT_NEAR(fast.system_tps / slow.system_tps, 1, 0.03) << c;
    EXPECT_NEAR(fast.tpot_ms.p90 / slow.tpot_ms.p90, 1, 0.03) << c;
    EXPECT_NEAR(fast.watts_mean / slow.watts_mean, 1, 0.06) << c;
  }
}

// Five workers, seven queries at once: two workers have two, three have one; with three queries two
// workers are idle.
TEST(ClosedLoop, a_remainder_is_shared_out) {
  Scenario scenario = one_gpu();
  const Workload load{exactly(300), exactly(100)};
  const SimPoint one = simulate_closed(cluster_of(scenario), load, 1);
  const SimPoint two = simulate_closed(cluster_of(scenario), load, 2);
  scenario.gpus = 5;
  const SimPoint seven = simulate_closed(cluster_of(scenario), load, 7);
  EXPECT_NEAR(seven.system_tps, 2 * two.system_tps + 3 * one.system_tps, 1e-6);
  EXPECT_EQ(seven.tpot_ms.p99, two.tpot_ms.p99);
  const double ends = 2 * two.qps + 3 * one.qps;
  EXPECT_NEAR(seven.latency_ms.mean,
              (2 * two.qps * two.latency_ms.mean + 3 * one.qps * one.latency_ms.mean) / ends, 1e-9);
  const SimPoint three = simulate_closed(cluster_of(scenario), load, 3);
  EXPECT_NEAR(three.system_tps, 3 * one.system_tps, 1e-6);
  EXPECT_GT(three.watts_mean, 3 * one.watts_mean);
  EXPECT_LT(three.watts_mean, 5 * one.watts_mean);
}

TEST(ClosedLoop, a_burst_is_no_steady_state_and_says_so) {
  const ClusterSpec spec = cluster_of(one_gpu());
  const Workload load{exactly(300), exactly(50)};
  EXPECT_NE(simulate_closed(spec, load, 8, once(2)).unsteady.find("2 queries"), std::string::npos);
  EXPECT_EQ(simulate_closed(spec, load, 8, once(6)).unsteady, "");
  EXPECT_EQ(simulate_closed(spec, load, 8).unsteady, "");
}

// For any number in flight, no number of queries is cut.
TEST(ClosedLoop, a_large_concurrency_gets_its_queries_too) {
  Scenario scenario = one_gpu();
  scenario.gpus = 8;
  const SimPoint p = simulate_closed(cluster_of(scenario), {exactly(8), exactly(4)}, 40'000);
  EXPECT_GE(static_cast<double>(p.queries), kSteadyQueriesPerSlot * p.concurrency);
  EXPECT_GT(p.in_flight_mean, kSteadyShareInFlight * p.concurrency);
}

TEST(OpenLoop, says_when_the_queue_grows_and_when_it_is_too_short) {
  const ClusterSpec spec = cluster_of(one_gpu());
  const Workload load{exactly(200), exactly(100)};
  EXPECT_NE(simulate_open(spec, load, 100'000, 5000).unsteady.find("queue grows"),
            std::string::npos);
  EXPECT_EQ(simulate_open(spec, load, 5, open_queries(spec, load, 5, 100)).unsteady, "");
  EXPECT_NE(simulate_open(spec, load, 50, 60).unsteady, "");
}

TEST(ClosedLoop, a_number_of_queries_is_that_many_or_as_many_rounds_as_the_least_needs) {
  const ClusterSpec spec = cluster_of(one_gpu());
  const Workload load{between(100, 200), between(20, 30)};
  EXPECT_EQ(simulate_closed(spec, load, 3, once(7)).queries, 21U);
  EXPECT_EQ(simulate_closed(spec, load, 3).queries, 420U);
  const SimPoint again = simulate_closed(spec, load, 3, once(7));
  EXPECT_EQ(again.latency_ms.mean, simulate_closed(spec, load, 3, once(7)).latency_ms.mean);
}

// More queries at once: throughput never falls, tokens never get faster, until memory is full.
class Systems : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Random, Systems, testing::Range<std::uint64_t>(1, 17));

TEST_P(Systems, throughput_and_tpot_never_fall_with_concurrency) {
  Rng rng(GetParam());
  const char* backends[] = {"vllm", "sglang", "tensorrt-llm"};
  const char* cards[] = {"h100-sxm", "h200-sxm", "b200-sxm", "gb300", "mi355x", "a100-sxm"};
  const char* models[] = {"llama3.1-8b", "mixtral-8x7b", "qwen3-32b", "gpt-oss-120b"};
  Scenario scenario = one_gpu(backends[rng.below(3)]);
  scenario.hardware = cards[rng.below(6)];
  scenario.model = models[rng.below(4)];
  scenario.precision = scenario.hardware == "a100-sxm" ? "bf16" : "fp8";
  scenario.parallel = rng.below(2) == 0 ? "tp=4" : "tp=8";
  const ClusterSpec spec = cluster_of(scenario);
  const auto prompt = 64 + static_cast<std::uint32_t>(rng.below(1500));
  const auto output = 64 + static_cast<std::uint32_t>(rng.below(400));
  const LengthDraw outputs = [output](Rng& r) {
    return output - static_cast<std::uint32_t>(r.below(output / 5));
  };
  double tps = 0;
  double tpot = 0;
  for (const std::uint32_t c : {1U, 4U, 16U, 64U, 256U}) {
    const SimPoint p = simulate_closed(spec, {exactly(prompt), outputs}, c);
    if (p.kv_usage_max > 0.9) break;
    EXPECT_GE(p.system_tps, tps) << describe(spec) << " at " << c;
    EXPECT_GE(p.tpot_ms.mean, tpot * 0.99) << describe(spec) << " at " << c;
    tps = p.system_tps;
    tpot = p.tpot_ms.mean;
  }
}

// The same chip with less bandwidth is never faster, with fitted constants or without.
// Each backend with each model is a test of its own: together they take most of the room's time.
class Cards : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Cards, with_less_of_everything_serve_less) {
  const auto [backend, model] = GetParam();
  const std::pair<const char*, const char*> pairs[] = {
      {"h100-pcie", "h100-sxm"}, {"a100-pcie", "a100-sxm"}, {"h100-sxm", "h200-sxm"}};
  const LengthDraw output = [](Rng& rng) {
    return 1 + static_cast<std::uint32_t>(220 * std::exp(0.5 * rng.normal()));
  };
  for (const auto& [less, more] : pairs) {
    Scenario scenario = one_gpu(backend);
    scenario.model = model;
    scenario.precision = *less == 'a' ? "bf16" : "fp8";
    scenario.parallel = "tp=4";
    for (const std::uint32_t c : {4U, 64U, 256U}) {
      const auto tps = [&](const char* card) {
        scenario.hardware = card;
        return simulate_closed(cluster_of(scenario), {exactly(300), output}, c, once(6)).system_tps;
      };
      EXPECT_LT(tps(less), tps(more)) << c << " in flight: " << less << ", " << more;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Served, Cards,
                         testing::Combine(testing::Values("vllm", "sglang", "tensorrt-llm"),
                                          testing::Values("llama2-70b", "llama3.1-8b",
                                                          "gpt-oss-120b")));

// Files as in docs/formats/catalogue.md: a card and a model that the built-in catalogue lacks.
TEST(OwnCatalogue, a_card_and_a_model_of_ones_own_are_served) {
  Catalogue catalogue = Catalogue::builtin();
  const auto card = catalogue.add_text(R"(
kind: hardware
name: my-card
generation: blackwell
memory_bytes: 96.0e9
memory_bytes_per_s: 2.0e12
flops: {bf16: 500e12, fp8: 1000e12}
scale_up: {bytes_per_s: 64e9, gpus_max: 4, latency_us: 6}
scale_out: {bytes_per_s: 25e9, latency_us: 15}
host_bytes_per_s: 32e9
power: {tdp_w: 600, idle_w: 80}
sources: {memory_bytes: mine, memory_bytes_per_s: mine, flops: mine, scale_up: mine,
          scale_out: mine, host_bytes_per_s: mine, power: mine}
)",
                                       "my-card.yaml");
  ASSERT_TRUE(card) << card.error().message;
  const auto model = catalogue.add_text(R"(
kind: model
name: my-70b
architecture: dense
layers: 80
hidden: 8192
vocabulary: 128256
attention: {kind: gqa, heads: 64, kv_heads: 8, head_dim: 128}
feed_forward: {inner: 28672}
sources: {architecture: config.json}
)",
                                        "my-70b.yaml");
  ASSERT_TRUE(model) << model.error().message;
  Scenario scenario = one_gpu();
  scenario.model = "my-70b";
  scenario.hardware = "my-card";
  scenario.parallel = "tp=4";
  const SimPoint p =
      simulate_closed(cluster_of(scenario, catalogue), {exactly(500), exactly(100)}, 8);
  EXPECT_EQ(p.refused, 0U);
  // 68.4 GB of weights over four cards at 2 TB/s: no token comes sooner.
  EXPECT_GT(p.tpot_ms.mean, 68.4e9 / 4 / 2e12 * 1e3);
}

}  // namespace
}  // namespace assay::sim
