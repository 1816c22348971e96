// The scheduling rules in which backends differ: which sequences join a step, and when. Each is
// compared with arithmetic on the step model, or with the same engine without the rule.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/scenario.h"
#include "sim/simulate.h"
#include "sim/testing_lengths.h"

namespace assay::sim {
namespace {

ClusterSpec deepseek(const char* backend, const char* hardware, const char* parallel,
                     std::uint32_t drafts = 0) {
  Scenario scenario;
  scenario.model = "deepseek-r1";
  scenario.hardware = hardware;
  scenario.backend = backend;
  scenario.precision = "fp8";
  scenario.parallel = parallel;
  scenario.mtp = drafts;
  auto out = make_cluster_spec(Catalogue::builtin(), scenario);
  EXPECT_TRUE(out) << out.error().message;
  return *out;
}

StepLoad prompts(double tokens, double work) { return {0, 0, tokens, work, 0, tokens}; }

// Arrivals come at any step of an interval of 30, so that they wait for half of it.
TEST(Scheduler, an_engine_that_seldom_looks_for_arrivals_lets_them_wait_half_the_interval) {
  ClusterSpec spec = deepseek("sglang", "b200-sxm", "tp=8");
  ASSERT_EQ(spec.deployment.backend.poll_steps(20), 30U);
  ASSERT_EQ(spec.deployment.backend.poll_steps(8), 10U);
  SimulateOptions options;
  options.queries_per_slot = 40;
  const Workload load{exactly(64), between(1500, 3000)};
  const SimPoint seldom = simulate_closed(spec, load, 20, options);
  spec.deployment.backend.polls.clear();
  const SimPoint always = simulate_closed(spec, load, 20, options);
  // The burst at the start, a fortieth of the queries, meets an idle engine.
  const double steps = (seldom.ttft_ms.mean - always.ttft_ms.mean) / seldom.tpot_ms.mean;
  EXPECT_NEAR(steps, 15.0 * 39 / 40, 2.5);
}

TEST(Scheduler, prompts_are_cut_to_the_budget_or_not_at_all) {
  for (const bool chunks : {true, false}) {
    ClusterSpec spec = deepseek("tensorrt-llm", "b200-sxm", "tp=8");
    spec.deployment.backend.chunks = chunks;
    spec.deployment.constants.request_s = 1e-9;
    Cluster cluster(spec);
    for (std::uint64_t id = 0; id < 2; ++id) cluster.admit({id, 5000, 1, {}}, Instant{});
    std::vector<Emission> out;
    cluster.advance(Instant{} + 60_s, out);
    ASSERT_EQ(out.size(), 2U);
    const StepModel model(spec.deployment);
    const double first = chunks
                             ? model.seconds(prompts(8192, 0.5 * 5000 * 5000 + 0.5 * 3192 * 3192))
                             : model.seconds(prompts(5000, 0.5 * 5000 * 5000));
    const double second = chunks ? model.seconds(prompts(1808, 1808 * (3192 + 904.0))) : first;
    EXPECT_NEAR((out[0].at - Instant{}).seconds(), first, 1e-6) << chunks;
    EXPECT_NEAR((out[1].at - out[0].at).seconds(), second, 1e-6) << chunks;
  }
}

TEST(Scheduler, a_prompt_longer_than_the_budget_has_a_step_of_its_own) {
  ClusterSpec spec = deepseek("tensorrt-llm", "h200-sxm", "tp=8");
  const SimPoint p = simulate_closed(spec, {exactly(20'000), exactly(3)}, 2);
  EXPECT_EQ(p.refused, 0U);
  EXPECT_GT(p.queries, 0U);
}

// With drafts on every card; without them where the recipe's budget is a prompt and the batch.
TEST(Scheduler, some_recipes_take_one_prompt_a_step) {
  const auto burst_ms = [](const char* card, std::uint32_t drafts) {
    const ClusterSpec spec = deepseek("tensorrt-llm", card, "tp=8,ep=8", drafts);
    Cluster cluster(spec);
    for (std::uint64_t id = 0; id < 8; ++id) cluster.admit({id, 1000, 400, {}}, Instant{});
    std::vector<Emission> out;
    std::vector<Instant> firsts;
    while (firsts.size() < 8) {
      out.clear();
      cluster.advance(cluster.next(), out);
      for (const Emission& e : out) firsts.push_back(e.at);
    }
    return std::make_pair((firsts.back() - firsts.front()).ms(), firsts[1] - firsts[0]);
  };
  EXPECT_EQ(burst_ms("b200-sxm", 0).first, 0);  // all in one step
  for (const auto& [card, drafts] :
       {std::pair("b200-sxm", 3U), std::pair("h200-sxm", 3U), std::pair("h200-sxm", 0U)}) {
    EXPECT_GT(burst_ms(card, drafts).second.ns, 0) << card << drafts;
    EXPECT_GT(burst_ms(card, drafts).first, 7 * 10) << card << drafts;
  }
}

TEST(Scheduler, a_prefill_worker_takes_as_many_prompts_as_its_budget_holds) {
  const ClusterSpec spec = deepseek("tensorrt-llm", "h200-sxm", "tp=8,ep=8");
  const BackendSpec& backend = spec.deployment.backend;
  EXPECT_EQ(backend.prompts_max(false, true), 1U);
  EXPECT_EQ(backend.prompts_max(false, false), 0U);
  EXPECT_EQ(backend.prompts_max(true, false), 1U);
}

// Eight ranks decode; then one query arrives, or one for each rank.
TEST(Scheduler, attention_dp_holds_prompts_for_every_rank_to_have_one_but_not_for_ever) {
  const auto wait_steps = [](std::uint64_t arrivals) {
    ClusterSpec spec = deepseek("tensorrt-llm", "h200-sxm", "tp=1,dp=8");
    EXPECT_EQ(spec.deployment.backend.dp_wait_steps, 60U);
    spec.deployment.constants.request_s = 1e-9;
    spec.deployment.constants.eager_layer_s = 1e-9;  // a step with prompts is like another
    Cluster cluster(spec);
    for (std::uint64_t id = 0; id < 8; ++id) cluster.admit({id, 100, 2000, {}}, Instant{});
    std::vector<Emission> out;
    const Instant arrived = Instant{} + 5_s;
    cluster.advance(arrived, out);
    for (std::uint64_t id = 8; id < 8 + arrivals; ++id) {
      cluster.admit({id, 100, 2000, {}}, arrived);
    }
    out.clear();
    while (out.empty()) cluster.advance(cluster.next(), out);
    const StepModel model(spec.deployment);
    return (out.front().at - arrived).seconds() / model.seconds({1, 300, 0, 0, 8, 0});
  };
  EXPECT_LT(wait_steps(8), 4);  // the current step, and a longer one with the prompts
  EXPECT_LT(wait_steps(1), 64);
  EXPECT_GT(wait_steps(1), wait_steps(8) + 1);
}

TEST(Scheduler, recipe_drafts_are_of_aggregated_workers_only) {
  Scenario scenario;
  scenario.model = "deepseek-r1";
  scenario.hardware = "h200-sxm";
  scenario.backend = "tensorrt-llm";
  scenario.precision = "fp8";
  scenario.parallel = "tp=8,ep=8";
  EXPECT_EQ(make_cluster_spec(Catalogue::builtin(), scenario)->deployment.drafts, 3U);
  scenario.disagg = "1P+1D";
  EXPECT_EQ(make_cluster_spec(Catalogue::builtin(), scenario)->deployment.drafts, 0U);
  scenario.mtp = 2;
  EXPECT_EQ(make_cluster_spec(Catalogue::builtin(), scenario)->deployment.drafts, 2U);
}

TEST(Scheduler, a_release_says_which_recipes_ran_with_drafts) {
  const auto drafts = [](const char* release, const char* layout, const char* precision) {
    Scenario scenario;
    scenario.model = "deepseek-r1";
    scenario.hardware = "b200-sxm";
    scenario.backend = "tensorrt-llm";
    scenario.backend_version = release;
    scenario.precision = precision;
    scenario.parallel = layout;
    return make_cluster_spec(Catalogue::builtin(), scenario)->deployment.drafts;
  };
  EXPECT_EQ(drafts("1.2.0rc6.post3", "tp=8", "nvfp4"), 3U);
  EXPECT_EQ(drafts("1.2.0rc6.post3", "dp=8,ep=8", "nvfp4"), 1U);
  EXPECT_EQ(drafts("1.2.0rc6.post2", "tp=8", "nvfp4"), 0U);
  EXPECT_EQ(drafts("1.2.0rc6.post2", "dp=8,ep=8", "fp8"), 0U);
  // The layout decides where no release is given and where no rule names it.
  for (const char* release : {"", "1.3.0", "1.2.0rc6.post30", "1.2.0rc6"}) {
    EXPECT_EQ(drafts(release, "tp=8", "nvfp4"), 0U) << release;
    EXPECT_EQ(drafts(release, "dp=8,ep=8", "fp8"), 1U) << release;
  }
}

TEST(Scheduler, a_rule_of_a_release_holds_for_those_that_begin_with_it) {
  const auto prompts = [](const char* release) {
    Scenario scenario;
    scenario.model = "deepseek-r1";
    scenario.hardware = "b200-sxm";
    scenario.backend = "tensorrt-llm";
    scenario.backend_version = release;
    scenario.precision = "nvfp4";
    scenario.parallel = "tp=8";
    return make_cluster_spec(Catalogue::builtin(), scenario)
        ->deployment.backend.prompts_max(false, true);
  };
  EXPECT_EQ(prompts("1.1.0rc2.post2"), 1U);  // its rule says 1.1
  EXPECT_EQ(prompts("1.1"), 1U);
  EXPECT_EQ(prompts("1.10"), 0U);
  EXPECT_EQ(prompts("1"), 0U);
  EXPECT_EQ(prompts(""), 0U);
}

ClusterSpec apart(const char* backend, const char* precision) {
  Scenario scenario;
  scenario.model = "deepseek-r1";
  scenario.hardware = "gb200";
  scenario.backend = backend;
  scenario.precision = precision;
  scenario.disagg = "1P:tp=1,dp=8+3D:tp=8";
  return *make_cluster_spec(Catalogue::builtin(), scenario);
}

TEST(Scheduler, a_recipe_builds_decode_workers_for_the_power_of_two_below_the_load) {
  const BackendSpec fp8 = apart("tensorrt-llm", "fp8").deployment.backend;
  const auto of = [](double queries) { return DecodeLoad{queries, 1000, false}; };
  EXPECT_EQ(fp8.decode_batch(of(0.5)), 1U);
  EXPECT_EQ(fp8.decode_batch(of(6)), 4U);
  EXPECT_EQ(fp8.decode_batch(of(64)), 64U);
  EXPECT_EQ(fp8.decode_batch(of(1e9)), 2048U);
  EXPECT_EQ(apart("sglang", "fp8").deployment.backend.decode_batch(of(6)), 0U);
}

TEST(Scheduler, a_recipe_with_attention_dp_may_have_one_and_a_half_times_a_power_of_two) {
  const BackendSpec fp8 = apart("tensorrt-llm", "fp8").deployment.backend;
  EXPECT_EQ(fp8.decode_batch({768, 1000, true}), 768U);
  EXPECT_EQ(fp8.decode_batch({767, 1000, true}), 512U);
  EXPECT_EQ(fp8.decode_batch({768, 1000, false}), 512U);
  EXPECT_EQ(fp8.decode_batch({1, 1000, true}), 1U);
}

TEST(Scheduler, low_latency_recipes_of_short_outputs_were_swept_at_one_batch) {
  const BackendSpec nvfp4 = apart("tensorrt-llm", "nvfp4").deployment.backend;
  EXPECT_EQ(nvfp4.decode_batch({2, 1000, false}), 32U);
  EXPECT_EQ(nvfp4.decode_batch({70, 1000, false}), 64U);
  EXPECT_EQ(nvfp4.decode_batch({1.9, 1000, false}), 1U);  // the recipe of the least latency
  EXPECT_EQ(nvfp4.decode_batch({9, 8000, false}), 8U);
  EXPECT_EQ(nvfp4.decode_batch({9, 1000, true}), 8U);
}

TEST(Scheduler, what_exceeds_the_decode_batch_waits_before_its_first_token) {
  ClusterSpec spec = apart("tensorrt-llm", "fp8");
  const Workload load{[](Rng&) { return 1000U; }, [](Rng&) { return 500U; }};
  const SimPoint by_rule = simulate_closed(spec, load, 18);
  spec.decode_batch = 6;
  const SimPoint given = simulate_closed(spec, load, 18);
  EXPECT_EQ(by_rule.decode_batch, 4U);
  EXPECT_EQ(given.decode_batch, 6U);
  // 12 of 18 decode, so a third of a query's time is spent in the queue.
  EXPECT_NEAR(by_rule.ttft_ms.mean / by_rule.latency_ms.mean, 1.0 / 3, 0.08);
  EXPECT_GT(by_rule.ttft_ms.mean, 3 * given.ttft_ms.mean);
  EXPECT_LT(by_rule.tpot_ms.mean, given.tpot_ms.mean);
}

TEST(Scheduler, a_prefill_step_takes_longer_by_every_prompt_that_leaves_with_it) {
  // Prompts of 1,000 on the first of eight ranks alone, and on all of them.
  const auto last_token_ms = [](double send_s, std::uint64_t prompts) {
    ClusterSpec spec = apart("tensorrt-llm", "fp8");
    spec.prefill->backend.send_s = spec.deployment.backend.send_s = send_s;
    spec.deployment.backend.seqs_max = 64;
    Cluster cluster(spec);
    for (std::uint64_t id = 0; id < prompts; ++id) cluster.admit({id, 1000, 1, {}}, Instant{});
    std::vector<Emission> out;
    while (cluster.next() != Instant::max()) cluster.advance(cluster.next(), out);
    return (out.back().at - Instant{}).ms();
  };
  EXPECT_NEAR(last_token_ms(0.01, 1) - last_token_ms(0, 1), 10, 0.5);
  EXPECT_NEAR(last_token_ms(0.01, 8) - last_token_ms(0, 8), 10, 0.5);
  EXPECT_NEAR(last_token_ms(0.01, 24) - last_token_ms(0, 24), 30, 0.5);
}

TEST(Scheduler, a_hand_off_takes_its_time_once) {
  const auto first_token_ms = [](double handoff_s) {
    ClusterSpec spec = apart("sglang", "fp8");
    spec.deployment.backend.handoff_s = handoff_s;
    Cluster cluster(spec);
    cluster.admit({1, 1000, 10, {}}, Instant{});
    std::vector<Emission> out;
    while (out.empty()) cluster.advance(cluster.next(), out);
    return (out.front().at - Instant{}).ms();
  };
  EXPECT_NEAR(first_token_ms(0.1) - first_token_ms(0), 100, 1e-3);
  ClusterSpec spec = apart("sglang", "fp8");
  Cluster cluster(spec);
  std::vector<Emission> out;
  cluster.admit({1, 1000, 10, {}}, Instant{});
  const Instant meanwhile = Instant{} + Duration::from_seconds((first_token_ms(0) + 50) * 1e-3);
  cluster.advance(meanwhile, out);
  cluster.cancel(1, meanwhile);
  EXPECT_EQ(cluster.in_flight(), 0U);
  cluster.advance(meanwhile + 1_s, out);
  EXPECT_TRUE(out.empty()) << "nobody takes up what was cancelled on the way";
  EXPECT_EQ(cluster.next(), Instant::max());
}

}  // namespace
}  // namespace assay::sim
