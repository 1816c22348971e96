#include "plan/workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/format.h"
#include "plan/config_reader.h"

namespace assay::plan {
namespace {

using testing::HasSubstr;

TEST(Workload, EveryModelOfTheSuitesIsThere) {
  const std::vector<std::string> names = Workloads::builtin().names();
  for (const char* name : {"bert-99",
                           "deepseek-r1",
                           "deepseek-v4_1-flash",
                           "dlrm-v3",
                           "gpt-j-6b",
                           "gpt-oss-120b",
                           "kimi-k3",
                           "llama2-70b",
                           "llama3.1-405b",
                           "llama3.1-8b",
                           "mixtral-8x7b",
                           "qwen3-vl-235b-a22b",
                           "qwen3_6-35b-a3b",
                           "resnet50",
                           "stable-diffusion-xl",
                           "whisper",
                           "wan2.2-t2v-a14b",
                           "yolo11l",
                           "3d-unet",
                           "dlrm-v2",
                           "e2e-rag-db",
                           "e2e-rag-qna",
                           "pointpainting",
                           "qwen3.6-27b",
                           "retinanet",
                           "rgat"}) {
    EXPECT_THAT(names, testing::Contains(name));
  }
}

// Bounds are written as numbers; a comparison with reference times factor finds typing mistakes.
void expect_bounds_follow(const Workload& workload, const Json& quality) {
  for (const Json& item : quality.items()) {
    const double reference = item["reference"].as_double();
    if (!item["factor"].is_number()) continue;
    const bool least = item["at_least"].is_number();
    const double bound = (least ? item["at_least"] : item["at_most"]).as_double();
    EXPECT_NEAR(bound, reference * item["factor"].as_double(), 0.006)
        << workload.name << " " << workload.edition << " " << item["metric"].as_string();
  }
}

TEST(Workload, EveryEditionReadsAndEveryScenarioOfThoseWithAConfigRuns) {
  const Workloads all = Workloads::builtin();
  std::size_t configs = 0;
  for (const std::string& name : all.names()) {
    const auto editions = all.editions_of(name);
    ASSERT_TRUE(editions);
    for (const std::string& edition : *editions) {
      const auto workload = all.find(name, edition);
      ASSERT_TRUE(workload) << workload.error().message;
      expect_bounds_follow(*workload, workload->data["quality"]);
      for (const std::string& scenario : workload->scenarios()) {
        const auto yaml = run_config(*workload, scenario, "datasets");
        if (workload->data["config"]["datasets"].is_null()) {
          EXPECT_EQ(yaml.error().code, Code::unsupported);
          continue;
        }
        ASSERT_TRUE(yaml) << yaml.error().message;
        ConfigReader reader([](std::string_view) { return std::optional<std::string>(); }, 28000);
        reader.read_text(*yaml, name);
        reader.flag("--endpoint", "http://localhost:8000");
        const bool rated = scenario == "server" || scenario == "interactive";
        if (rated) reader.flag("--rate", "2");
        if (scenario == "concurrency") reader.flag("--concurrency", "8");
        if (scenario == "agentic") reader.flag("--concurrency", "8");
        const auto loaded = reader.finish();
        ASSERT_TRUE(loaded) << name << " " << edition << " " << scenario << "\n"
                            << loaded.error().message << "\n"
                            << *yaml;
        EXPECT_FALSE(loaded->config.datasets.empty());
        for (const DatasetConfig& data : loaded->config.datasets) {
          EXPECT_NE(workload->dataset(data.name), nullptr) << name << ": " << data.name;
        }
        ++configs;
      }
    }
  }
  EXPECT_GT(configs, 40U);
}

TEST(Workload, AnEditionIsASwitch) {
  const Workloads all = Workloads::builtin();
  const auto checker = all.find("gpt-oss-120b");
  const auto rules = all.find("gpt-oss-120b", "inference-v6.1-rules");
  ASSERT_TRUE(checker && rules);
  EXPECT_EQ(checker->data["scenarios"]["interactive"]["limits"]["tpot_ms_p99"].as_int(), 15);
  EXPECT_EQ(rules->data["scenarios"]["interactive"]["limits"]["tpot_ms_p99"].as_int(), 20);
  EXPECT_EQ(rules->data["config"]["model_params"]["max_new_tokens"].as_int(), 10000);
  EXPECT_EQ(rules->data["seeds"]["schedule_rng_seed"].as_uint(), 16159082839903944936U);
  const auto endpoints = all.find("gpt-oss-120b", "endpoints-v1.0");
  ASSERT_TRUE(endpoints);
  EXPECT_EQ(endpoints->data["seeds"]["model_seed"].as_uint(), 9315206023656308754U);
  EXPECT_THAT(endpoints->scenarios(), testing::UnorderedElementsAre("offline", "concurrency"));
}

TEST(Workload, ARoundHasItsOwnFiguresSeedsAndSources) {
  const Workloads all = Workloads::builtin();
  const auto old = all.find("llama2-70b", "inference-v4.1");
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_EQ(old->data["seeds"]["schedule_rng_seed"].as_uint(), 14962580496156340209U);
  EXPECT_THAT(old->scenarios(), testing::UnorderedElementsAre("offline", "server"));
  EXPECT_EQ(old->data["quality"][0]["of"].as_string(), "llama2-70b-99");
  EXPECT_EQ(old->data["sources"].dump(), R"(["the submission checker of v4.1"])");
  const auto edge = all.find("llama3.1-8b", "inference-v5.1-edge");
  ASSERT_TRUE(edge) << edge.error().message;
  EXPECT_THAT(edge->scenarios(), testing::UnorderedElementsAre("offline", "single_stream"));
  EXPECT_EQ(edge->data["config"]["datasets"][0]["name"].as_string(), "sample_cnn_eval_5000");
}

TEST(Workload, ATargetsNameFindsItsWorkload) {
  const auto found = Workloads::builtin().find("bert-99.9");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->name, "bert-99");
}

TEST(Workload, UnknownNamesListTheKnown) {
  const Workloads all = Workloads::builtin();
  EXPECT_THAT(all.find("lama3.1-8b").error().message, HasSubstr("did you mean \"llama3.1-8b\"?"));
  EXPECT_THAT(all.find("llama3.1-8b", "v9").error().message, HasSubstr("endpoints-v1.0"));
  const auto workload = all.find("llama3.1-8b");
  EXPECT_THAT(run_config(*workload, "sever", ".").error().message,
              HasSubstr("did you mean \"server\"?"));
}

TEST(Workload, AMissingFileSaysWhereToGetIt) {
  const auto workload = Workloads::builtin().find("gpt-oss-120b");
  ASSERT_TRUE(workload);
  const Error error = missing_dataset(*workload, *workload->dataset("aime25::gptoss"), "x/aime");
  EXPECT_EQ(error.code, Code::not_found);
  EXPECT_THAT(error.message, HasSubstr("opencompass/AIME2025"));
  EXPECT_THAT(error.message, HasSubstr("question, answer"));
}

TEST(Workload, AFileOfOnesOwnIsChecked) {
  const auto reads = [](std::string_view yaml) {
    Workloads all;
    if (auto added = all.add_text(yaml, "w.yaml"); !added) return added.error().message;
    const auto found = all.find("w");
    return found ? std::string() : found.error().message;
  };
  const std::string good =
      "workload: w\ntitle: t\nedition: mine\ntask: t\napi: openai\nmetric: m\nprompt: p\n"
      "model: {id: m}\nscorer: s\nsources: [me]\nscenarios: {server: {limits: {ttft_ms_p99: 5}}}\n"
      "quality: [{metric: f, reference: 1, at_least: 1}]\n";
  EXPECT_EQ(reads(good + "datasets: {d: {rows: 3, file: d.jsonl, published: here, columns: [a]}}"),
            "");
  EXPECT_THAT(reads(good + "datasets: {d: {rows: 3, file: ../d, published: x, columns: [a]}}"),
              HasSubstr("must stay within the dataset folder"));
  EXPECT_THAT(reads(good + "datasets: {d: {rows: 0, file: d, published: x, columns: [a]}}"),
              HasSubstr("datasets.d.rows"));
  EXPECT_THAT(reads(good + "datset: {}"), HasSubstr("did you mean \"datasets\"?"));
}

}  // namespace
}  // namespace assay::plan
