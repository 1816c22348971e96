#include "sim/catalogue.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "base/testing_temp_folder.h"
#include "sim/scenario.h"

namespace assay::sim {
namespace {

TEST(Catalogue, ships_what_the_guide_names) {
  const Catalogue catalogue = Catalogue::builtin();
  for (const char* name : {"a100-sxm", "l40s", "h100-pcie", "h100-sxm", "h200-sxm", "b200-sxm",
                           "b300-sxm", "gb200", "gb300", "mi300x", "mi325x", "mi355x"}) {
    const auto spec = catalogue.hardware(name);
    ASSERT_TRUE(spec) << spec.error().message;
    EXPECT_GT(spec->flops.at("bf16"), 1e14) << name;
  }
  for (const char* name : {"vllm", "sglang", "tensorrt-llm"}) EXPECT_TRUE(catalogue.backend(name));
  EXPECT_EQ(catalogue.hardware("h200")->name, "h200-sxm");
}

// Parameter counts of the models as published, in billions.
TEST(Catalogue, shapes_give_the_published_parameter_counts) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto total = [&](const char* name) {
    return catalogue.model(name)->total_weights() * 1e-9;
  };
  EXPECT_NEAR(total("llama3.1-8b"), 8.03, 0.05);
  EXPECT_NEAR(total("llama3.1-70b"), 70.6, 0.3);
  EXPECT_NEAR(total("llama2-70b"), 69.0, 0.3);
  EXPECT_NEAR(total("llama3.1-405b"), 405.8, 2);
  EXPECT_NEAR(total("mixtral-8x7b"), 46.7, 0.3);
  EXPECT_NEAR(total("gpt-j-6b"), 6.05, 0.1);
  EXPECT_NEAR(total("gpt-oss-120b"), 116.8, 1);
  EXPECT_NEAR(total("qwen3-vl-235b-a22b"), 235.1, 1.5);
  EXPECT_NEAR(total("deepseek-r1"), 671.0, 3);
  EXPECT_NEAR(catalogue.model("deepseek-r1")->active_weights() * 1e-9, 36.6, 0.8);
  EXPECT_NEAR(catalogue.model("deepseek-r1")->attention_weights() * 1e-6, 187.1, 0.3);
  // KV of one BF16 token: 70,272 bytes for DeepSeek's latent, 327,680 for Llama 70B.
  EXPECT_EQ(catalogue.model("deepseek-r1")->kv_elements_growing(1) * 2, 70'272);
  EXPECT_EQ(catalogue.model("llama3.1-70b")->kv_elements_growing(1) * 2, 327'680);
  EXPECT_EQ(catalogue.model("gpt-oss-120b")->kv_elements_growing(1) * 2, 36'864);
}

TEST(Catalogue, an_unknown_name_suggests_the_nearest) {
  const auto spec = Catalogue::builtin().hardware("h200-smx");
  ASSERT_FALSE(spec);
  EXPECT_NE(spec.error().message.find("did you mean 'h200-sxm'"), std::string::npos);
}

TEST(Catalogue, a_users_file_adds_and_replaces) {
  Catalogue catalogue = Catalogue::builtin();
  const auto added = catalogue.add_text(
      "kind: calibration\nprovenance: mine\nadjust:\n  - {when: {hardware: h200-sxm}, times: "
      "{layer_s: 2.0}}\n",
      "mine.yaml");
  ASSERT_TRUE(added) << added.error().message;
  const Catalogue before = Catalogue::builtin();
  const Subject h200{"dense", "llama3.1-70b", "hopper", "h200-sxm", "vllm", "fp8"};
  const Subject h100{"dense", "llama3.1-70b", "hopper", "h100-sxm", "vllm", "fp8"};
  EXPECT_DOUBLE_EQ(catalogue.calibration().resolve(h200).layer_s,
                   2 * before.calibration().resolve(h200).layer_s);
  EXPECT_DOUBLE_EQ(catalogue.calibration().resolve(h100).layer_s,
                   before.calibration().resolve(h100).layer_s);
}

TEST(Catalogue, a_calibration_with_a_base_begins_anew) {
  Catalogue catalogue = Catalogue::builtin();
  const auto added =
      catalogue.add_text("kind: calibration\nbase: {layer_s: 3.0e-5, step_s: 0.001}\n", "own.yaml");
  ASSERT_TRUE(added) << added.error().message;
  const Subject subject{"dense", "llama3.1-70b", "hopper", "h200-sxm", "vllm", "fp8"};
  EXPECT_EQ(catalogue.calibration().resolve(subject).layer_s, 3.0e-5);
  EXPECT_EQ(catalogue.calibration().resolve(subject).step_s, 0.001);
  EXPECT_TRUE(catalogue.calibration().compared.empty());
}

void expect_same(const StepConstants& a, const StepConstants& b, const std::string& whose) {
  for (const ConstantName& constant : constant_names()) {
    EXPECT_EQ(a.*constant.member, b.*constant.member) << whose << ": " << constant.name;
  }
}

TEST(Catalogue, a_release_changes_nothing_for_who_tells_none_or_another) {
  const Calibration shipped = Catalogue::builtin().calibration();
  Calibration without = shipped;
  std::erase_if(without.adjustments, [](const Adjustment& a) { return !a.when.version.empty(); });
  ASSERT_LT(without.adjustments.size(), shipped.adjustments.size());
  for (const ComparedFamily& family : shipped.compared) {
    Subject subject = family.what;
    const StepConstants before = without.resolve(subject);
    expect_same(shipped.resolve(subject), before, subject.model);
    subject.version = "99.0";
    expect_same(shipped.resolve(subject), before, subject.model);
  }
}

TEST(Catalogue, a_release_that_was_measured_has_its_own_step) {
  const Calibration shipped = Catalogue::builtin().calibration();
  const auto layer_s = [&](const char* release) {
    return shipped
        .resolve({.model = "minimax-m2.5",
                  .generation = "blackwell",
                  .hardware = "b200-sxm",
                  .backend = "vllm",
                  .precision = "fp8",
                  .version = release})
        .layer_s;
  };
  EXPECT_NE(layer_s("0.18.0"), layer_s(""));
  EXPECT_NE(layer_s("0.18.0"), layer_s("0.16.0"));
  EXPECT_EQ(layer_s("0.18.0.post1"), layer_s("0.18.0"));
}

TEST(Catalogue, mistakes_name_file_field_and_fix) {
  Catalogue catalogue;
  const auto message = [&](const char* yaml) {
    const auto added = catalogue.add_text(yaml, "my.yaml");
    return added ? std::string("accepted") : added.error().message;
  };
  EXPECT_NE(message("kind: hardwear").find("my.yaml: 'kind' must be one of"), std::string::npos);
  EXPECT_NE(message("kind: [").find("my.yaml:"), std::string::npos);
  EXPECT_NE(message("kind: model\nname: x\narchitecture: dense").find("'layers' is missing"),
            std::string::npos);
  EXPECT_NE(message("kind: calibration\nbase: {layr_s: 1}").find("did you mean 'layer_s'"),
            std::string::npos);
  EXPECT_NE(message("kind: calibration\nbase: {layer_s: -1}").find("above 0"), std::string::npos);
  EXPECT_NE(message("kind: calibration\nextra: 1").find("unknown key 'extra'"), std::string::npos);
}

TEST(Catalogue, a_calibration_for_a_name_that_nothing_has_is_refused) {
  const TempFolder folder;
  const auto message = [&](const std::string& text) {
    const std::filesystem::path file = folder.path() / "mine.yaml";
    EXPECT_TRUE(write_file_atomic(file, "kind: calibration\n" + text));
    Catalogue catalogue = Catalogue::builtin();
    const auto added = catalogue.add(file);
    return added ? std::string("accepted") : added.error().message;
  };
  const auto adjust = [&](const std::string& when) {
    return message("adjust: [{when: {" + when + "}, times: {layer_s: 1.1}}]");
  };
  EXPECT_EQ(adjust("hardware: h200-sxm, backend: vllm, generation: hopper, architecture: moe,"
                   " precision: mxfp4, model: mine, version: 9.9"),
            "accepted");
  EXPECT_NE(adjust("hardware: h200-sxn")
                .find("mine.yaml: unknown hardware 'h200-sxn'; "
                      "did you mean 'h200-sxm'?; one of: "),
            std::string::npos);
  EXPECT_NE(adjust("backend: vlm").find("did you mean 'vllm'"), std::string::npos);
  EXPECT_NE(adjust("generation: hoper").find("did you mean 'hopper'"), std::string::npos);
  EXPECT_NE(adjust("architecture: stages").find("one of: dense, moe, moe_mla"), std::string::npos);
  EXPECT_NE(adjust("precision: fp4").find("one of: bf16, fp8, "), std::string::npos);
  EXPECT_NE(message("compared: [{what: {hardware: h1}, points: 1, tpot_error: 0.1}]")
                .find("unknown hardware 'h1'"),
            std::string::npos);
}

TEST(Catalogue, a_calibration_may_name_a_card_by_its_alias) {
  const TempFolder folder;
  const std::filesystem::path file = folder.path() / "mine.yaml";
  ASSERT_TRUE(write_file_atomic(
      file, "kind: calibration\nadjust: [{when: {hardware: h200, backend: trtllm}, times: {}}]"));
  Catalogue catalogue = Catalogue::builtin();
  ASSERT_TRUE(catalogue.add(file));
  EXPECT_EQ(catalogue.calibration().adjustments.back().when.hardware, "h200-sxm");
  EXPECT_EQ(catalogue.calibration().adjustments.back().when.backend, "tensorrt-llm");
}

TEST(Catalogue, a_rule_for_workers_apart_needs_a_role_and_constants_that_exist) {
  const auto message = [](const char* rule) {
    Catalogue catalogue = Catalogue::builtin();
    const auto added = catalogue.add_text(
        std::string("kind: backend\nname: mine\n"
                    "scheduler: {policy: mixed, token_budget: 1, seqs_max: 1, block_tokens: 1,"
                    " reserves_output: false}\n"
                    "memory: {fraction: 0.9, of: total, reserve_bytes: 0}\nkv_cache: [{bytes: 1}]\n"
                    "sources: {scheduler: me, memory: me, kv_cache: me}\napart: {rules: [") +
            rule + "]}\n",
        "my.yaml");
    return added ? std::string("accepted") : added.error().message;
  };
  EXPECT_EQ(message("{role: decode, step: 1.2}"), "accepted");
  EXPECT_NE(message("{step: 1.2}").find("'role' is missing"), std::string::npos);
  EXPECT_NE(message("{role: decode, step: 0}").find("step"), std::string::npos);
  EXPECT_NE(message("{role: prefill, times: {layr_s: 2}}").find("did you mean 'layer_s'"),
            std::string::npos);
  EXPECT_NE(message("{role: prefill, tims: {layer_s: 2}}").find("unknown key 'tims'"),
            std::string::npos);
}

TEST(Deployment, workers_apart_take_the_rules_of_their_role_and_attention) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto make = [&](WorkerRole role, Parallelism parallelism, const char* precision,
                        const char* model = "deepseek-r1") {
    DeploymentRequest request{model, "gb200", "sglang", precision, parallelism, 0U, {}};
    request.role = role;
    return *make_deployment(catalogue, request);
  };
  const Parallelism dp{1, 8, 8, 1};
  const Parallelism tp{8, 1, 1, 1};
  const Deployment both = make(WorkerRole::both, dp, "fp8");
  const Deployment prefill = make(WorkerRole::prefill, dp, "fp8");
  EXPECT_FALSE(both.apart);
  EXPECT_TRUE(prefill.apart);
  EXPECT_GT(prefill.constants.expert_compute, 2 * both.constants.expert_compute);
  EXPECT_GT(prefill.constants.eager_layer_s, 2 * both.constants.eager_layer_s);
  EXPECT_EQ(prefill.step, 1);
  EXPECT_EQ(make(WorkerRole::decode, dp, "fp8").constants.expert_compute,
            both.constants.expert_compute);
  EXPECT_EQ(make(WorkerRole::prefill, tp, "fp8").constants.eager_layer_s,
            make(WorkerRole::both, tp, "fp8").constants.eager_layer_s);
  EXPECT_LT(make(WorkerRole::decode, tp, "nvfp4").step, 1);
  EXPECT_EQ(make(WorkerRole::decode, dp, "nvfp4").step, 1);
  EXPECT_EQ(make(WorkerRole::both, tp, "nvfp4").step, 1);
  EXPECT_EQ(make(WorkerRole::decode, tp, "nvfp4", "qwen3-235b-a22b").step, 1)
      << "nobody has measured another architecture's split";
}

TEST(Deployment, knows_what_fits) {
  const Catalogue catalogue = Catalogue::builtin();
  DeploymentRequest request{"deepseek-r1", "b200-sxm", "sglang", "fp8", {4, 1, 1, 1}, {}, {}};
  // 168 GB of weights on a card of 193: such a system was measured.
  const auto tight = make_deployment(catalogue, request);
  ASSERT_TRUE(tight) << tight.error().message;
  EXPECT_NEAR(tight->weights_bytes_per_gpu() * 1e-9, 168, 3);
  request.hardware = "h200-sxm";
  const auto none = make_deployment(catalogue, request);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("does not fit"), std::string::npos);
}

// Cards are compared fairly: KV's format depends on the model, not on the card.
TEST(Deployment, the_format_of_kv_is_the_same_on_every_card) {
  const Catalogue catalogue = Catalogue::builtin();
  for (const BackendSpec& backend : catalogue.all_backends()) {
    for (const ModelSpec& model : catalogue.all_models()) {
      for (const char* precision : {"bf16", "fp8", "nvfp4", "mxfp4"}) {
        std::optional<double> first;
        for (const HardwareSpec& card : catalogue.all_hardware()) {
          const double bytes = backend.kv_bytes({model.architecture, model.name, card.generation,
                                                 card.name, backend.name, precision});
          EXPECT_EQ(bytes, first.value_or(bytes))
              << backend.name << " " << model.name << " " << precision << " on " << card.name;
          first = bytes;
        }
      }
    }
  }
}

TEST(Deployment, says_the_format_of_kv) {
  Scenario scenario;
  scenario.model = "llama3.1-8b";
  scenario.hardware = "h100-sxm";
  scenario.precision = "fp8";
  const auto eight = make_cluster_spec(Catalogue::builtin(), scenario);
  EXPECT_EQ(eight->deployment.kv_format(), "fp8");
  EXPECT_NE(describe(*eight).find(", KV fp8"), std::string::npos) << describe(*eight);
  scenario.precision = "bf16";
  EXPECT_EQ(make_cluster_spec(Catalogue::builtin(), scenario)->deployment.kv_format(), "bf16");
}

TEST(Deployment, checks_layouts) {
  EXPECT_EQ(parse_parallelism("tp=1,dp=8")->ep, 8U);
  EXPECT_EQ(parse_parallelism("tp=8,dp=1,ep=1")->moe_tp(), 8U);
  EXPECT_EQ(parse_parallelism("tp=4,moe_tp=2")->ep, 2U);
  EXPECT_FALSE(parse_parallelism("tp=8,ep=3"));
  EXPECT_FALSE(parse_parallelism("tp=0"));
  EXPECT_EQ(*parse_parallelism("tp=2,dp=0,ep=0"), *parse_parallelism("tp=2"));
  EXPECT_FALSE(parse_parallelism("tq=8"));
  Scenario scenario;
  scenario.model = "llama3.1-70b";
  scenario.hardware = "h100-sxm";
  scenario.precision = "fp8";
  scenario.parallel = "tp=8,ep=8";
  EXPECT_FALSE(make_cluster_spec(Catalogue::builtin(), scenario));  // no experts
  scenario.parallel = "tp=4";
  scenario.gpus = 6;
  EXPECT_FALSE(make_cluster_spec(Catalogue::builtin(), scenario));  // not a multiple
  scenario.gpus = 16;
  EXPECT_EQ(make_cluster_spec(Catalogue::builtin(), scenario)->workers, 4U);
}

TEST(Scenario, reads_a_file_and_its_mistakes) {
  const auto good = read_scenario(
      "model: deepseek-r1\nhardware: gb200\nbackend: sglang\nbackend_version: 0.5.8\n"
      "precision: nvfp4\ndisagg: 2P:tp=4+1D:dp=32\nrouter: kv_aware\nfaults:\n  - {kind: slow, at: "
      "30s, worker: 1, "
      "factor: 3}\n",
      "s.yaml");
  ASSERT_TRUE(good) << good.error().message;
  const auto spec = make_cluster_spec(Catalogue::builtin(), *good);
  ASSERT_TRUE(spec) << spec.error().message;
  EXPECT_EQ(spec->gpus(), 40U);
  EXPECT_NE(describe(*spec).find(", sglang 0.5.8, "), std::string::npos) << describe(*spec);
  EXPECT_DOUBLE_EQ(good->faults.at(0).at_s, 30.0);
  EXPECT_FALSE(read_scenario("model: x\nhardwear: y\n", "s.yaml"));
  EXPECT_FALSE(read_scenario("model: x\nhardware: y\nfaults: [{kind: burn, at: 1}]\n", "s.yaml"));
}

}  // namespace
}  // namespace assay::sim
