#include "sim/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/format.h"
#include "sim/deployment.h"
#include "sim/step_model.h"

namespace assay::sim {
namespace {

Result<ModelSpec> read_text(const std::string& text) {
  const auto json = Json::parse(text);
  EXPECT_TRUE(json) << text;
  return read_model_config(*json, "x", "config.json");
}

std::string mistake(const std::string& text) {
  const auto read = read_text(text);
  return read ? std::string("accepted") : read.error().message;
}

constexpr const char* kQwen3Moe =
    R"({"model_type": "qwen3_moe", "num_hidden_layers": 94, "hidden_size": 4096,
        "num_attention_heads": 64, "num_key_value_heads": 4, "head_dim": 128, "num_experts": 128,
        "num_experts_per_tok": 8, "moe_intermediate_size": 1536, "intermediate_size": 12288,
        "decoder_sparse_step": 1, "mlp_only_layers": [], "vocab_size": 151936,
        "sliding_window": null, "use_sliding_window": false, "tie_word_embeddings": false)";

struct Published {
  const char* family;
  const char* config;
  double total_e9;
  double tolerance;
};

void expect_counts(const std::vector<Published>& all) {
  for (const Published& one : all) {
    const std::string text = *one.config == '\0' ? std::string(kQwen3Moe) + "}" : one.config;
    const auto model = read_text(text);
    ASSERT_TRUE(model) << one.family << ": " << model.error().message;
    EXPECT_NEAR(model->total_weights() * 1e-9, one.total_e9, one.tolerance) << one.family;
  }
}

// The shapes are those of published checkpoints, their parameter counts what the publishers say.
TEST(ModelConfig, families_have_their_published_parameter_counts) {
  const std::vector<Published> all = {
      {"dense, head_dim absent",
       R"({"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
           "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256})",
       8.03, 0.02},
      {"two matrices, old names",
       R"({"model_type": "gptj", "n_layer": 28, "n_embd": 4096, "n_head": 16, "n_inner": null,
           "vocab_size": 50400, "activation_function": "gelu_new"})",
       6.05, 0.05},
      {"qwen3_moe", "", 235.1, 0.5},
      {"MLA, leading dense layers, shared expert",
       R"({"model_type": "deepseek_v3", "num_hidden_layers": 61, "hidden_size": 7168,
           "num_attention_heads": 128, "num_key_value_heads": 128, "intermediate_size": 18432,
           "vocab_size": 129280, "n_routed_experts": 256, "n_shared_experts": 1,
           "num_experts_per_tok": 8, "moe_intermediate_size": 2048, "first_k_dense_replace": 3,
           "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536, "qk_nope_head_dim": 128,
           "qk_rope_head_dim": 64, "v_head_dim": 128, "num_nextn_predict_layers": 1})",
       671, 1},
      {"experts in every second layer, under text_config",
       R"({"model_type": "llama4", "text_config": {"model_type": "llama4_text",
           "num_hidden_layers": 48, "hidden_size": 5120, "num_attention_heads": 40,
           "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 8192,
           "intermediate_size_mlp": 16384, "num_local_experts": 128, "num_experts_per_tok": 1,
           "interleave_moe_layer_step": 2, "vocab_size": 202048, "attention_chunk_size": 8192}})",
       400, 2},
      {"linear attention, 512 experts",
       R"({"model_type": "qwen3_next", "num_hidden_layers": 48, "hidden_size": 2048,
           "num_attention_heads": 16, "num_key_value_heads": 2, "head_dim": 256,
           "num_experts": 512, "num_experts_per_tok": 10, "moe_intermediate_size": 512,
           "shared_expert_intermediate_size": 512, "full_attention_interval": 4,
           "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
           "linear_value_head_dim": 128, "vocab_size": 151936})",
       80, 0.8},
      {"Mamba, attention and experts in layers of their own",
       R"({"model_type": "nemotron_h", "num_hidden_layers": 52, "hidden_size": 2688,
           "num_attention_heads": 32, "num_key_value_heads": 2, "head_dim": 128,
           "n_routed_experts": 128, "n_shared_experts": 1, "num_experts_per_tok": 6,
           "moe_intermediate_size": 1856, "moe_shared_expert_intermediate_size": 3712,
           "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
           "mamba_num_heads": 64, "mamba_head_dim": 64, "n_groups": 8, "ssm_state_size": 128,
           "mlp_hidden_act": "relu2", "vocab_size": 131072})",
       31.6, 0.5},
      {"tied embeddings, sliding windows",
       R"({"tie_word_embeddings": true, "text_config": {"model_type": "gemma3_text",
           "num_hidden_layers": 62, "hidden_size": 5376, "num_attention_heads": 32,
           "num_key_value_heads": 16, "head_dim": 128, "intermediate_size": 21504,
           "sliding_window": 1024, "sliding_window_pattern": 6, "vocab_size": 262208}})",
       27.0, 0.1},
  };
  expect_counts(all);
}

TEST(ModelConfig, a_file_that_leaves_out_defaults_has_its_published_parameter_counts) {
  expect_counts({
      {"what equals the family's defaults left out, as published",
       R"({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text",
           "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
           "sliding_window": 1024}, "vision_config": {"hidden_size": 1152}})",
       3.88, 0.02},
      {"the text model named by the whole one alone",
       R"({"model_type": "gemma3", "text_config": {"hidden_size": 3840, "intermediate_size": 15360,
           "num_attention_heads": 16, "num_key_value_heads": 8, "num_hidden_layers": 48}})",
       11.77, 0.03},
      {"a text model without heads",
       R"({"model_type": "llava", "text_config": {"model_type": "mistral", "hidden_size": 5120,
           "head_dim": 128, "num_hidden_layers": 40, "sliding_window": null,
           "vocab_size": 131072}})",
       12.25, 0.03},
      {"two matrices, tied by default, another old name",
       R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112,
           "vocab_size": 250880})",
       176.2, 0.3},
  });
}

TEST(ModelConfig, a_default_of_the_family_is_named_and_null_is_none) {
  using testing::ElementsAre;
  const std::string sizes = R"("model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 2048,
      "num_attention_heads": 16, "intermediate_size": 256)";
  const auto silent = read_text("{" + sizes + "}");
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->kv_heads, 8);
  EXPECT_EQ(silent->vocabulary, 32000);
  EXPECT_THAT(silent->assumed, ElementsAre("vocab_size 32000", "num_key_value_heads 8"));
  const auto none = read_text("{" + sizes + R"(, "num_key_value_heads": null, "vocab_size": 9})");
  ASSERT_TRUE(none);
  EXPECT_EQ(none->kv_heads, 16);
  EXPECT_EQ(none->vocabulary, 9);
  EXPECT_THAT(none->assumed, ElementsAre());
  const auto below = read_text(R"({"text_config": {)" + sizes +
                               R"(, "num_key_value_heads": null}, "vocab_size": 7})");
  ASSERT_TRUE(below);
  EXPECT_EQ(below->kv_heads, 16);
  EXPECT_EQ(below->vocabulary, 7);
  EXPECT_EQ(mistake(R"({"model_type": "unheard", "num_hidden_layers": 2, "hidden_size": 8})"),
            "config.json: 'vocab_size' is missing");
}

TEST(ModelConfig, the_catalogues_models_have_their_published_parameter_counts) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto total = [&](const char* name) {
    return catalogue.model(name)->total_weights() * 1e-9;
  };
  EXPECT_NEAR(total("minimax-m2.5"), 228.7, 1);
  EXPECT_NEAR(total("qwen3-235b-a22b"), 235.1, 0.5);
  EXPECT_NEAR(total("qwen3.5-397b-a17b"), 396.5, 2);
  EXPECT_NEAR(catalogue.model("qwen3.5-397b-a17b")->active_weights() * 1e-9, 17, 1);
  EXPECT_NEAR(catalogue.model("minimax-m2.5")->active_weights() * 1e-9, 10, 1);
}

TEST(ModelConfig, a_norm_across_heads_is_a_field_or_the_familys) {
  const auto across = [](const std::string& more) {
    const auto model = read_text(
        R"({"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "intermediate_size": 11008, "vocab_size": 100352)" +
        more + "}");
    return model && model->norm_across_heads;
  };
  EXPECT_TRUE(across(R"(, "use_qk_norm": true, "qk_norm_type": "per_layer")"));
  EXPECT_FALSE(across(R"(, "use_qk_norm": true, "qk_norm_type": "per_head")"));
  EXPECT_FALSE(across(""));
  EXPECT_TRUE(across(R"(, "model_type": "olmo2")"));
  EXPECT_TRUE(across(R"(, "model_type": "olmo3")"));
  EXPECT_TRUE(across(R"(, "model_type": "olmoe")"));
  EXPECT_TRUE(across(R"(, "model_type": "minimax_m2")"));
  EXPECT_TRUE(Catalogue::builtin().model("minimax-m2.5")->norm_across_heads);
}

TEST(ModelConfig, a_norm_of_queries_and_keys_is_a_field_or_the_familys) {
  const auto normalised = [](const std::string& more) {
    const auto model = read_text(
        R"({"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32,
            "intermediate_size": 11008, "vocab_size": 100352)" +
        more + "}");
    return model ? model->norm_layers() : 0;
  };
  EXPECT_EQ(normalised(""), 0);
  EXPECT_EQ(normalised(R"(, "use_qk_norm": false)"), 0);
  for (const char* said :
       {R"("use_qk_norm": true)", R"("qk_layernorm": true)", R"("qk_norm_type": "per_layer")",
        R"("model_type": "qwen3")", R"("model_type": "gemma3_text")", R"("model_type": "exaone4")",
        R"("model_type": "apertus")", R"("model_type": "dots1")",
        R"("model_type": "hunyuan_v1_dense")", R"("model_type": "minimax_m2")"}) {
    EXPECT_EQ(normalised(std::string(", ") + said), 32) << said;
  }
  EXPECT_EQ(normalised(R"(, "model_type": "llama")"), 0);
  const Catalogue catalogue = Catalogue::builtin();
  EXPECT_EQ(catalogue.model("minimax-m2.5")->norm_layers(), 62);
  EXPECT_EQ(catalogue.model("qwen3.5-397b-a17b")->norm_layers(), 60) << "both kinds";
  EXPECT_EQ(catalogue.model("gpt-oss-120b")->norm_layers(), 0);
}

TEST(ModelConfig, scales_of_blocks_are_the_checkpoints) {
  const auto anew = [](const std::string& quantised, Precision precision) {
    const auto model = read_text(std::string(kQwen3Moe) + quantised + "}");
    return model && model->requantises(precision);
  };
  const std::string blocks =
      R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})";
  const std::string groups =
      R"(, "quantization_config": {"quant_method": "compressed-tensors", "config_groups":
           {"group_0": {"weights": {"num_bits": 8, "type": "float", "strategy": "HOW"}}}})";
  const auto strategy = [&](const std::string& word) {
    std::string out = groups;
    return out.replace(out.find("HOW"), 3, word);
  };
  EXPECT_TRUE(anew(blocks, Precision::fp8));
  EXPECT_FALSE(anew(blocks, Precision::bf16));
  EXPECT_TRUE(anew(strategy("block"), Precision::fp8));
  EXPECT_FALSE(anew(strategy("tensor"), Precision::fp8));
  EXPECT_FALSE(anew(R"(, "quantization_config": {"quant_method": "fp8"})", Precision::fp8));
  EXPECT_TRUE(anew("", Precision::nvfp4));
  EXPECT_FALSE(anew("", Precision::mxfp4));
}

TEST(ModelConfig, quantisation_is_the_checkpoints) {
  const auto formats = [](const std::string& quantised) {
    const auto model = read_text(std::string(kQwen3Moe) + quantised + "}");
    if (!model) return model.error().message;
    return model->checkpoint_precision + "/" + model->attention_precision;
  };
  EXPECT_EQ(formats(""), "bf16/");
  EXPECT_EQ(formats(R"(, "quantization_config": {"quant_method": "fp8",
                        "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head"]})"),
            "fp8/");
  EXPECT_EQ(formats(R"(, "quantization_config": {"quant_method": "modelopt",
                        "quant_algo": "NVFP4", "ignore": ["*self_attn*"]})"),
            "nvfp4/bf16");
  EXPECT_EQ(formats(R"(, "quantization_config": {"quant_method": "mxfp4",
                        "modules_to_not_convert": ["model.layers.*.self_attn"]})"),
            "mxfp4/bf16");
  EXPECT_EQ(formats(R"(, "quantization_config": {"quant_method": "awq", "bits": 4})"), "int4/");
  EXPECT_EQ(formats(R"(, "quantization_config": {"quant_method": "gptq", "bits": 4})"), "int4/");
  const std::string groups =
      R"(, "quantization_config": {"quant_method": "compressed-tensors", "format": "FORMAT",
           "config_groups": {"group_0": {"weights": WEIGHTS}}})";
  const auto grouped = [&](const char* packing, const char* weights) {
    std::string text = groups;
    text.replace(text.find("FORMAT"), 6, packing);
    text.replace(text.find("WEIGHTS"), 7, weights);
    return formats(text);
  };
  EXPECT_EQ(grouped("pack-quantized", R"({"num_bits": 4, "type": "int", "group_size": 32})"),
            "int4/");
  EXPECT_EQ(grouped("float-quantized", R"({"num_bits": 8, "type": "float"})"), "fp8/");
  EXPECT_EQ(
      grouped("nvfp4-pack-quantized", R"({"num_bits": 4, "type": "float", "group_size": 16})"),
      "nvfp4/");
  EXPECT_EQ(
      grouped("mxfp4-pack-quantized", R"({"num_bits": 4, "type": "float", "group_size": 32})"),
      "mxfp4/");
  // Named layer by layer: wide if most of them are.
  std::string listed;
  for (int i = 0; i < 94; ++i) {
    listed += format("{}\"model.layers.{}.self_attn.q_proj\"", i == 0 ? "" : ", ", i);
  }
  const std::string ignored = format(
      R"(, "quantization_config": {{"quant_method": "modelopt_fp4", "ignore": [{}]}})", listed);
  EXPECT_EQ(formats(ignored), "nvfp4/bf16");
  EXPECT_EQ(formats(R"(, "quantization_config": {"quant_method": "modelopt_fp4",
                        "ignore": ["model.layers.0.self_attn.q_proj"]})"),
            "nvfp4/");
}

TEST(ModelConfig, mistakes_name_the_field) {
  EXPECT_EQ(mistake("{}"), "config.json: 'num_hidden_layers' is missing");
  EXPECT_EQ(mistake(R"({"num_hidden_layers": "many"})"),
            "config.json: 'num_hidden_layers' must be a whole number from 0 to 1,000,000,000");
  const std::string sizes = R"("num_hidden_layers": 2, "hidden_size": 100, "vocab_size": 10)";
  EXPECT_NE(mistake("{" + sizes + R"(, "num_attention_heads": 3})").find("'head_dim' is missing"),
            std::string::npos);
  const std::string heads = sizes + R"(, "num_attention_heads": 4)";
  EXPECT_NE(mistake("{" + heads + "}").find("'intermediate_size' is missing"), std::string::npos);
  EXPECT_NE(mistake("{" + heads + R"(, "num_experts": 8, "intermediate_size": 8})")
                .find("'num_experts_per_tok' is missing"),
            std::string::npos);
  EXPECT_NE(mistake("{" + heads + R"(, "layer_types": ["full_attention", "fourier"]})")
                .find("'layer_types' has 'fourier', which is not modelled"),
            std::string::npos);
  EXPECT_NE(mistake("{" + heads + R"(, "layer_types": ["full_attention"]})").find("listed"),
            std::string::npos);
  EXPECT_NE(mistake("{" + heads + R"(, "layer_types": ["linear_attention", "full_attention"]})")
                .find("'linear_num_key_heads' is missing"),
            std::string::npos);
  EXPECT_NE(mistake("{" + heads + R"(, "kv_lora_rank": 4})").find("'qk_nope_head_dim' is missing"),
            std::string::npos);
  EXPECT_NE(mistake(R"({"is_encoder_decoder": true})").find("is not modelled"), std::string::npos);
  EXPECT_NE(mistake(R"({"num_hidden_layers": 0, "hidden_size": 8, "num_attention_heads": 2,
                        "intermediate_size": 8, "vocab_size": 10})")
                .find("layers and hidden must be above 0"),
            std::string::npos);
  EXPECT_NE(mistake("{" + heads + R"(, "num_experts": 8, "num_experts_per_tok": 2,
                        "moe_intermediate_size": 0, "intermediate_size": 0})")
                .find("the width of an expert must be above 0"),
            std::string::npos);
}

class ConfigFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name() / "Org--My-Model";
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Result<Deployment> deploy(const std::string& model, const std::string& precision = {}) const {
    return make_deployment(Catalogue::builtin(),
                           {model, "b200-sxm", "vllm", precision, {8, 1, 1, 1}, {}, {}});
  }
  std::filesystem::path folder_{};
};

// A path stands wherever a model's name does.
TEST_F(ConfigFile, a_path_is_a_models_name) {
  write("config.json", R"({"num_hidden_layers": 32, "hidden_size": 4096, "vocab_size": 1000,
      "num_attention_heads": 32, "intermediate_size": 14336,
      "quantization_config": {"quant_method": "awq", "bits": 4}})");
  const auto found = deploy((folder_ / "config.json").string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->model.name, "my-model");
  EXPECT_EQ(found->precision, Precision::int4);
  EXPECT_EQ(found->trust.level, Trust::Level::new_model);
  EXPECT_TRUE(deploy(folder_.string()));
  EXPECT_EQ(deploy(folder_.string(), "fp8")->precision, Precision::fp8);
  const auto none = deploy((folder_ / "none.json").string());
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("none.json"), std::string::npos);
}

TEST_F(ConfigFile, formats_may_stand_beside_it) {
  write("config.json", std::string(kQwen3Moe) + "}");
  write("hf_quant_config.json",
        R"({"quantization": {"quant_algo": "NVFP4", "exclude_modules": ["lm_head"]}})");
  EXPECT_EQ(deploy(folder_.string())->precision, Precision::nvfp4);
}

// What was fitted to a model holds for the same model in its own file, in the file's formats.
TEST_F(ConfigFile, of_a_known_shape_is_the_known_model) {
  write("config.json",
        std::string(kQwen3Moe) + R"(, "quantization_config": {"quant_method": "fp8"}})");
  const auto found = deploy(folder_.string());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->model.name, "qwen3-235b-a22b");
  EXPECT_EQ(found->precision, Precision::fp8);
}

// Only the vocabulary differs: what was fitted to the layers holds.
TEST(Deployment, a_model_with_the_layers_of_a_fitted_one_has_its_constants) {
  const auto of = [](const char* name) {
    return *make_deployment(Catalogue::builtin(),
                            {name, "h200-sxm", "vllm", "fp8", {2, 1, 1, 1}, {}, {}});
  };
  const Deployment fitted = of("llama3.1-70b");
  const Deployment alike = of("llama2-70b");
  for (const ConstantName& constant : constant_names()) {
    EXPECT_EQ(alike.constants.*constant.member, fitted.constants.*constant.member) << constant.name;
  }
  EXPECT_EQ(alike.trust.level, Trust::Level::compared);
  EXPECT_NE(alike.trust.says.find("constants of llama3.1-70b"), std::string::npos);
  EXPECT_EQ(of("qwen3-32b").trust.says.find("same layers"), std::string::npos);
}

// A twin of such a model multiplies those constants, and counts as its own comparison.
TEST(Deployment, a_twin_of_a_model_alike_keeps_the_constants_it_was_fitted_to) {
  Catalogue catalogue = Catalogue::builtin();
  const DeploymentRequest request{"llama2-70b", "h200-sxm", "vllm", "fp8", {2, 1, 1, 1}, {}, {}};
  const double before = make_deployment(catalogue, request)->constants.layer_s;
  ASSERT_TRUE(catalogue.add_text(
      "kind: calibration\nadjust: [{when: {model: llama2-70b}, times: {layer_s: 2.0}}]\n"
      "compared: [{what: {model: llama2-70b, hardware: h200-sxm, backend: vllm, precision: fp8}, "
      "points: 7, tpot_error: 0.01}]\n",
      "twin.yaml"));
  const auto twin = make_deployment(catalogue, request);
  EXPECT_DOUBLE_EQ(twin->constants.layer_s, 2 * before);
  EXPECT_NE(twin->trust.says.find("7 measured points"), std::string::npos);
}

TEST_F(ConfigFile, a_format_that_is_not_modelled_asks_for_another) {
  write("config.json", std::string(kQwen3Moe) +
                           R"(, "quantization_config": {"quant_method": "gptq", "bits": 8}})");
  const auto refused = deploy(folder_.string());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("int8, which is not modelled; --precision"),
            std::string::npos);
  EXPECT_TRUE(deploy(folder_.string(), "fp8"));
}

StepTime one_step(const ModelSpec& model, double context) {
  Deployment d = *make_deployment(Catalogue::builtin(),
                                  {"qwen3-32b", "b200-sxm", "vllm", "bf16", {1, 1, 1, 1}, {}, {}});
  d.model = model;
  return StepModel(d).parts({4, 4 * context, 0, 0, 4, 0});
}

// A state of linear attention is read and written whole, whatever the context's length.
TEST(LinearAttention, costs_the_same_at_any_context) {
  ModelSpec model = *Catalogue::builtin().model("qwen3-32b");
  const double full = one_step(model, 50'000).kv - one_step(model, 1'000).kv;
  model.linear_layers = model.layers;
  model.linear_key_heads = model.linear_value_heads = 32;
  model.linear_key_dim = model.linear_value_dim = 128;
  EXPECT_GT(full, 0);
  EXPECT_EQ(one_step(model, 50'000).kv, one_step(model, 1'000).kv);
  EXPECT_GT(one_step(model, 1'000).kv, 0);
}

// Sparse attention reads the best tokens' KV, and one index key of every token.
TEST(SparseAttention, grows_with_the_index_alone) {
  ModelSpec model = *Catalogue::builtin().model("qwen3-32b");
  const auto growth = [&] { return one_step(model, 60'000).kv - one_step(model, 30'000).kv; };
  const double full = growth();
  model.sparse_top = 2048;
  model.sparse_heads = 32;
  model.sparse_dim = 128;
  // Two bytes of 16 widths of 128 without an index, one byte of one with it.
  EXPECT_NEAR(growth() / full, 1.0 / 32, 1e-6);
}

// The memory of a state counts as that of a number of tokens, so fewer sequences fit.
TEST(LinearAttention, a_sequence_keeps_its_state_in_memory) {
  Deployment d =
      *make_deployment(Catalogue::builtin(),
                       {"qwen3.5-397b-a17b", "b200-sxm", "sglang", "fp8", {8, 1, 1, 1}, {}, {}});
  // 45 layers of 8 heads of 128 x 128 in BF16, beside 15 layers of one KV head of 256 in FP8.
  EXPECT_EQ(d.fixed_tokens(), std::ceil(45.0 * 8 * 128 * 128 * 2 / (15 * 2 * 256)));
  d.model = *Catalogue::builtin().model("llama3.1-70b");
  EXPECT_EQ(d.fixed_tokens(), 0);
}

}  // namespace
}  // namespace assay::sim
