#include "sim/step_model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "sim/expert_ranks.h"

namespace assay::sim {
namespace {

Deployment make(const char* model, const char* hardware, const char* precision,
                Parallelism parallelism, unsigned drafts = 0) {
  auto out = make_deployment(Catalogue::builtin(),
                             {model, hardware, "vllm", precision, parallelism, drafts, {}});
  EXPECT_TRUE(out) << out.error().message;
  return *out;
}

// Every share 1 and every fixed cost 0: the rest can be computed by hand.
Deployment ideal(Deployment d) {
  for (const ConstantName& constant : constant_names()) {
    const bool seconds = constant.name.ends_with("_s");
    d.constants.*constant.member = seconds ? 1e-30 : 1.0;
  }
  d.constants.expert_thin_columns = d.constants.expert_imbalance = 1e-30;
  d.constants.activation_passes = d.constants.linear_extra = 1e-30;
  d.constants.norm_extra = d.constants.requantise_extra = 1e-30;
  d.kv_bytes = 1;
  return d;
}

StepLoad decode(double sequences, double context, unsigned ranks = 1) {
  return {sequences, sequences * context, 0, 0, sequences * ranks, 0};
}

// Llama 70B in FP8 at batch 1 streams 80 (151.0 + 704.6) M bytes = 68.4 GB over 4.8 TB/s = 14.26
// ms.
TEST(StepModel, one_sequence_streams_the_weights) {
  const StepModel model(ideal(make("llama3.1-70b", "h200-sxm", "fp8", {1, 1, 1, 1})));
  const StepTime t = model.parts(decode(1, 1000));
  EXPECT_NEAR(t.projections, 80 * 150.995e6 / 4.8e12, 1e-6);
  EXPECT_NEAR(t.feed_forward, 80 * 704.643e6 / 4.8e12, 1e-6);
  // 1,000 tokens of 163,840 bytes (FP8 KV): 34 us.
  EXPECT_NEAR(t.kv, 1000 * 163'840 / 4.8e12, 1e-9);
  EXPECT_EQ(t.communication, 0);
  EXPECT_EQ(t.experts, 0);
}

TEST(StepModel, a_deployments_step_factor_scales_every_step) {
  Deployment d = make("llama3.1-70b", "h200-sxm", "fp8", {1, 1, 1, 1});
  const double seconds = StepModel(d).seconds(decode(7, 1000));
  d.step = 1.25;
  EXPECT_DOUBLE_EQ(StepModel(d).seconds(decode(7, 1000)), 1.25 * seconds);
}

// Each draft is drawn too. A software generation says what an entry of the vocabulary takes.
TEST(StepModel, drawing_a_token_takes_each_sequence_its_vocabulary) {
  Catalogue catalogue = Catalogue::builtin();
  ASSERT_TRUE(
      catalogue.add_text("kind: software\nname: slow\nsampled_entry_s: 1.0e-9\n", "s.yaml"));
  DeploymentRequest asked{.model = "gpt-oss-120b",
                          .hardware = "b200-sxm",
                          .backend = "vllm",
                          .precision = "mxfp4",
                          .parallelism = {},
                          .drafts = 2,
                          .software = "slow"};
  const auto likeliest = make_deployment(catalogue, asked);
  asked.sampled = true;
  const auto drawn = make_deployment(catalogue, asked);
  ASSERT_TRUE(likeliest && drawn);
  const double more = StepModel(*drawn).seconds(decode(100, 1000)) -
                      StepModel(*likeliest).seconds(decode(100, 1000));
  EXPECT_NEAR(more, 100 * 3 * 201'088e-9, 1e-9);
  ASSERT_TRUE(catalogue.add_text("kind: software\nname: silent\n", "s.yaml"));
  for (const char* silent : {"", "silent"}) {
    asked.software = silent;
    const auto unsaid = make_deployment(catalogue, asked);
    ASSERT_FALSE(unsaid);
    EXPECT_NE(unsaid.error().message.find("name one"), std::string::npos);
  }
}

TEST(StepModel, a_generation_sets_how_long_an_engine_waits_that_waits) {
  Catalogue catalogue = Catalogue::builtin();
  ASSERT_TRUE(catalogue.add_text("kind: software\nname: own\ndp_wait_steps: 7\n", "s.yaml"));
  const auto waits = [&](const char* backend, const char* software) {
    const auto made = make_deployment(catalogue, {.model = "deepseek-r1",
                                                  .hardware = "b200-sxm",
                                                  .backend = backend,
                                                  .precision = "nvfp4",
                                                  .parallelism = {1, 8, 8, 1},
                                                  .software = software});
    EXPECT_TRUE(made) << made.error().message;
    return made->backend.dp_wait_steps;
  };
  EXPECT_EQ(waits("tensorrt-llm", "own"), 7U);
  ASSERT_TRUE(catalogue.add_text("kind: software\nname: at_once\ndp_wait_steps: 0\n", "s.yaml"));
  EXPECT_EQ(waits("tensorrt-llm", "at_once"), 0U);
  EXPECT_EQ(waits("tensorrt-llm", "v6.0"), waits("tensorrt-llm", ""));
  EXPECT_GT(waits("tensorrt-llm", ""), 7U);
  EXPECT_EQ(waits("vllm", "own"), 0U) << "it does not wait";
}

// 4,096 prompt tokens at once: 2 x 68.4e9 x 4,096 / 1,979e12 = 283 ms of FP8 products.
TEST(StepModel, a_long_prompt_is_compute_bound) {
  const StepModel model(ideal(make("llama3.1-70b", "h200-sxm", "fp8", {1, 1, 1, 1})));
  StepLoad load;
  load.prefill_tokens = load.all_prefill = 4096;
  load.prefill_work = 4096.0 * 4096 / 2;
  const StepTime t = model.parts(load);
  EXPECT_NEAR(t.projections + t.feed_forward, 2 * 68.45e9 * 4096 / 1979e12, 2e-4);
  // Attention: 2 x 64 heads x 256 x 80 layers x 8.39e6 / 989e12 = 22.2 ms.
  EXPECT_NEAR(t.prefill_attention, 2.0 * 64 * 256 * 80 * 4096 * 4096 / 2 / 989e12, 1e-6);
}

// One expert layer of DeepSeek touches 8, 30.5, 57, 102, 163, 222, 252 of 256 experts.
TEST(StepModel, expert_coverage_is_the_expected_number_of_distinct_experts) {
  const StepModel model(make("deepseek-r1", "b200-sxm", "fp8", {8, 1, 8, 1}));
  const double tokens[] = {1, 4, 8, 16, 32, 64, 128};
  const double touched[] = {8, 30.5, 57.4, 102, 163, 222, 251.6};
  for (int i = 0; i < 7; ++i) EXPECT_NEAR(model.experts_touched(tokens[i]), touched[i], 0.6);
}

TEST(StepModel, one_card_does_not_communicate_and_more_do) {
  const auto comm = [](unsigned tp) {
    const StepModel model(make("llama3.1-70b", "h200-sxm", "fp8", {tp, 1, 1, 1}));
    return model.parts(decode(8, 1000)).communication;
  };
  EXPECT_EQ(comm(1), 0);
  EXPECT_GT(comm(2), 0);
  EXPECT_GT(comm(8), comm(2));
}

// Tensor parallelism does not split MLA's latent: every rank reads it whole. It splits GQA's heads,
// down to one.
TEST(StepModel, ranks_agree_once_more_a_layer_where_a_norm_is_across_heads) {
  const auto communication = [](unsigned tp, bool across) {
    Deployment d = make("minimax-m2.5", "b200-sxm", "nvfp4", {tp, 1, 1, 1});
    d.constants.all_reduce_bandwidth = 1e30;
    d.model.norm_across_heads = across;
    return StepModel(d).parts(decode(8, 1000)).communication;
  };
  EXPECT_NEAR(communication(4, true), 1.5 * communication(4, false), 1e-9);
  EXPECT_EQ(communication(1, true), 0);
}

TEST(StepModel, tensor_parallelism_splits_heads_but_not_the_latent) {
  const auto kv = [](const char* name, unsigned tp) {
    return Catalogue::builtin().model(name)->kv_elements_growing(tp);
  };
  EXPECT_EQ(kv("deepseek-r1", 8), kv("deepseek-r1", 1));
  EXPECT_EQ(kv("llama3.1-70b", 8) * 8, kv("llama3.1-70b", 1));
  EXPECT_EQ(kv("llama3.1-70b", 16), kv("llama3.1-70b", 8));
}

// A slice of 100 columns streams at half the rate of a wide one, whatever split made it so thin.
TEST(StepModel, thin_slices_of_experts_stream_slowly) {
  Deployment d = ideal(make("qwen3-235b-a22b", "b200-sxm", "fp8", {4, 1, 1, 1}));
  d.constants.expert_thin_columns = 384;  // 1,536 over four
  const double thin = StepModel(d).parts(decode(1, 1)).experts;
  d.constants.expert_thin_columns = 1e-30;
  EXPECT_NEAR(thin / StepModel(d).parts(decode(1, 1)).experts, 2, 1e-3);
}

// 64 layers of 5,120 in BF16 over 8 TB/s: 82 ns a pass for each token, prompt or not.
TEST(StepModel, every_token_moves_its_state_through_every_layer) {
  Deployment d = ideal(make("qwen3-32b", "b200-sxm", "bf16", {1, 1, 1, 1}));
  d.constants.activation_passes = 10;
  const StepModel model(d);
  EXPECT_NEAR(model.parts(decode(7, 1)).fixed, 70 * 2.0 * 64 * 5120 / 8e12, 1e-12);
  StepLoad prompt;
  prompt.prefill_tokens = prompt.all_prefill = 7;
  EXPECT_NEAR(model.parts(prompt).fixed, model.parts(decode(7, 1)).fixed, 1e-12);
}

// Wide expert parallelism reduces the stream of weights on each card (DeepSeek, one sequence a
// card).
TEST(StepModel, wide_expert_parallelism_is_faster_where_weights_rule) {
  const StepModel ep8(make("deepseek-r1", "gb300", "nvfp4", {1, 8, 8, 1}));
  const StepModel ep64(make("deepseek-r1", "gb300", "nvfp4", {1, 64, 64, 1}));
  const double eight = ep8.parts(decode(16, 4000, 8)).experts;
  const double wide = ep64.parts(decode(16, 4000, 64)).experts;
  EXPECT_LT(wide, 0.7 * eight);
}

// 256 experts on 72 ranks are four a rank, as on 64: wider attention, no fewer weights each.
TEST(StepModel, a_width_that_does_not_divide_the_experts_holds_copies) {
  const Deployment odd = make("deepseek-r1", "gb300", "nvfp4", {1, 72, 72, 1});
  const Deployment even = make("deepseek-r1", "gb300", "nvfp4", {1, 64, 64, 1});
  EXPECT_EQ(experts_per_rank(odd.model, odd.parallelism), 4U);
  EXPECT_EQ(experts_per_rank(even.model, even.parallelism), 4U);
  EXPECT_EQ(odd.weights_bytes_per_gpu(), even.weights_bytes_per_gpu());
  // Where every expert is touched, a step streams what a rank holds.
  const auto streamed = [](const Deployment& d) {
    return StepModel(ideal(d)).parts(decode(1, 1, 300)).experts;
  };
  EXPECT_NEAR(streamed(odd) / (4 * 58 * 44.04e6 * 0.5625 / 8e12), 1, 0.01);
  EXPECT_FALSE(make_deployment(Catalogue::builtin(),
                               {"mixtral-8x7b", "gb300", "vllm", "fp8", {1, 64, 64, 1}, {}, {}}));
}

// No step is faster than bytes over bandwidth or operations over compute, for any batch.
TEST(StepModel, the_roofline_is_never_beaten) {
  for (const char* name : {"llama3.1-70b", "gpt-oss-120b", "deepseek-r1", "qwen3-vl-235b-a22b"}) {
    for (const char* hardware : {"h200-sxm", "b200-sxm", "mi355x"}) {
      const StepModel model(make(name, hardware, "fp8", {8, 1, 1, 1}));
      Rng rng(5);
      for (int i = 0; i < 300; ++i) {
        const double n = std::floor(std::exp(6.5 * rng.uniform()));
        StepLoad load = decode(n, std::floor(1 + 20'000 * rng.uniform()));
        if (rng.uniform() < 0.5) {
          load.prefill_tokens = load.all_prefill = std::floor(1 + 8191 * rng.uniform());
          load.prefill_work = 0.5 * load.prefill_tokens * load.prefill_tokens;
        }
        EXPECT_GE(model.seconds(load), model.lower_bound(load)) << name << " " << hardware;
        EXPECT_GT(model.lower_bound(load), 0);
      }
    }
  }
}

TEST(StepModel, more_work_never_takes_less_time) {
  const StepModel model(make("deepseek-r1", "h200-sxm", "fp8", {8, 1, 8, 1}));
  double before = 0;
  for (double n = 1; n <= 1024; n *= 2) {
    const double now = model.seconds(decode(n, 2000));
    EXPECT_GT(now, before);
    EXPECT_GT(model.seconds(decode(n, 4000)), now);
    before = now;
  }
}

// 1 + .79 + .79 x .608 + .79 x .608 x .468 = 2.495: the decaying vector of the published row.
TEST(Acceptance, expectation_is_the_sum_of_products) {
  EXPECT_NEAR(expected_tokens({0.79, 0.6083, 0.4684}), 2.4956, 1e-3);
  EXPECT_NEAR(expected_tokens({0.8, 0.8, 0.8}), 2.952, 1e-9);
  EXPECT_EQ(expected_tokens({}), 1);
}

// The longer of the card's work and of the launches, softened: a root of the sum of squares.
TEST(StepModel, a_step_with_prompts_takes_no_less_than_its_launches) {
  Deployment d = make("deepseek-r1", "h200-sxm", "fp8", {8, 1, 1, 1});
  d.backend.prompt_graphs = false;
  d.constants.norm_extra = d.constants.requantise_extra = 1e-30;
  const auto seconds = [&d](double eager_layer_s, double prompt_tokens) {
    d.constants.eager_layer_s = eager_layer_s;
    return StepModel(d).seconds({4, 4000, prompt_tokens, 0, 4, prompt_tokens});
  };
  for (const double tokens : {1.0, 100.0, 8000.0, 100000.0}) {
    const double card = seconds(0, tokens);
    for (const double launch : {1e-5, 1e-3, 1e-1}) {
      const double launches = launch * d.model.layers;
      EXPECT_NEAR(seconds(launch, tokens), std::sqrt(card * card + launches * launches), 1e-12);
      EXPECT_EQ(seconds(launch, 0), seconds(0, 0)) << "decode steps are graphs";
    }
  }
  d.backend.prompt_graphs = true;
  EXPECT_EQ(seconds(0.1, 100), seconds(0, 100));
}

TEST(StepModel, layers_of_linear_attention_are_launched_longer) {
  Deployment d = make("qwen3.5-397b-a17b", "b200-sxm", "fp8", {8, 1, 1, 1});
  d.backend.prompt_graphs = false;
  d.constants.eager_layer_s = 1;  // of which the card's work is nothing
  d.constants.norm_extra = d.constants.requantise_extra = 1e-30;
  const double extra = d.constants.linear_extra * d.model.linear_layers;
  EXPECT_GT(extra, 1);
  EXPECT_NEAR(StepModel(d).seconds({0, 0, 100, 0, 0, 100}), d.model.layers + extra, 1e-2);
}

TEST(StepModel, a_norm_of_heads_and_a_quantisation_of_activations_are_launched) {
  Deployment d = ideal(make("qwen3-32b", "b200-sxm", "fp8", {1, 1, 1, 1}));
  d.constants.layer_s = 1;
  const auto layers = [&] { return StepModel(d).parts(decode(1, 1)).fixed; };
  EXPECT_NEAR(layers(), 64, 1e-6);
  d.constants.norm_extra = 0.25;
  EXPECT_NEAR(layers(), 64 * 1.25, 1e-6);
  d.constants.requantise_extra = 0.5;
  EXPECT_NEAR(layers(), 64 * 1.75, 1e-6);
  d.precision = Precision::bf16;
  EXPECT_NEAR(layers(), 64 * 1.25, 1e-6) << "nothing is quantised";
  d.precision = Precision::nvfp4;
  EXPECT_NEAR(layers(), 64 * 1.75, 1e-6);
  d.precision = Precision::fp8;
  d.model.fp8_blocks = d.model.query_key_norm = false;
  EXPECT_NEAR(layers(), 64, 1e-6);
}

}  // namespace
}  // namespace assay::sim
