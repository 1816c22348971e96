#include "interchange/submission.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::interchange {
namespace {

PackedCurve some_curve() {
  PackedCurve curve{.model = "gpt-oss-120b", .dataset = "perf", .endpoint = "http://x:1"};
  curve.c_max = 1024;
  curve.seeds = Json()
                    .set("seed_set", "A")
                    .set("target_cohort", "2026-12-C0")
                    .set("scheduler_rng_seed", 10'487'924'139'932'647'040U)
                    .set("sample_index_rng_seed", 5)
                    .set("model_seed", 6);
  return curve;
}

PackedPoint some_point() {
  PackedPoint point{.name = "r64", .concurrency = 64, .region = "med_concurrency"};
  point.min_samples = 500;
  point.min_duration_s = 1200;
  point.warmup_source = "words";
  const auto parsed = Json::parse(R"({"system_tps": 1000.0,
    "steady_state": {"status": "windowable", "verdict": "STEADY STATE", "official": true,
                     "window": {"super_pass_start": 1, "super_pass_end": 5},
                     "state": {"tpot_p50": "Plateau"},
                     "figures": {"qps": 1}},
    "assay": {"phases": [{"kind": "warmup", "started_ns": 0, "drained_ns": 2500000000,
                          "counts": {"issued": 8, "completed": 7}}, {"kind": "performance"}]}})");
  EXPECT_TRUE(parsed);
  point.summary = *parsed;
  return point;
}

TEST(Submission, APointSaysWhatWasMeasuredAndWhatWasAnswered) {
  const auto answers = Json::parse(
      R"({"system": {"division": "RDI"}, "point": {"model_precision": "FP8"},
          "points": {"r64": {"warmup": {"initialization_steps": ["graph capture"]}}}})");
  const Json yaml = point_yaml(some_curve(), some_point(), *answers);
  EXPECT_EQ(yaml["concurrency"].as_int(), 64);
  EXPECT_EQ(yaml["division"].as_string(), "RDI");
  EXPECT_EQ(yaml["model_precision"].as_string(), "FP8");
  EXPECT_EQ(yaml["runtime_settings"]["runtime"]["scheduler_rng_seed"].as_uint(),
            10'487'924'139'932'647'040U);
  EXPECT_EQ(yaml["runtime_settings"]["min_duration_ms"].as_int(), 1'200'000);
  EXPECT_EQ(yaml["warmup"]["duration_s"].as_double(), 2.5);
  EXPECT_EQ(yaml["warmup"]["requests_issued"].as_int(), 8);
  EXPECT_EQ(yaml["warmup"]["requests_completed"].as_int(), 7);
  EXPECT_EQ(yaml["warmup"]["initialization_steps"].size(), 1U);
  EXPECT_EQ(yaml["warmup"]["data_source"].as_string(), "words");
  EXPECT_EQ(yaml["steady_state"]["window"]["super_pass_end"].as_int(), 5);
  EXPECT_EQ(yaml["steady_state"].find("figures"), nullptr);
  EXPECT_EQ(yaml["dataset_type"].as_string(), "Performance");
  EXPECT_EQ(yaml["target_cohort"].as_string(), "2026-12-C0");
}

TEST(Submission, AnswersAreLaidOverWhatTheMachineSays) {
  const auto node = Json::parse(R"({"system_node_ensemble_id": 0, "driver": "1", "accelerator_info":
    [{"accelerator_model_name": "X", "accelerators_per_node": 4}]})");
  const auto answers = Json::parse(R"({"system": {"system_name": "My box", "node_types":
    [{"filesystem": "xfs", "accelerator_info": [{"accelerator_memory_type": "HBM"}]}]}})");
  const Json description = system_description(some_curve(), *node, *answers, 0.5);
  EXPECT_EQ(description["system_name"].as_string(), "My box");
  EXPECT_EQ(description["max_supported_concurrency"].as_int(), 1024);
  EXPECT_EQ(description["tps_utilization"].as_double(), 0.5);
  const Json& one = description["node_types"][0];
  EXPECT_EQ(one["driver"].as_string(), "1");
  EXPECT_EQ(one["filesystem"].as_string(), "xfs");
  EXPECT_EQ(one["accelerator_info"][0]["accelerators_per_node"].as_int(), 4);
  EXPECT_EQ(one["accelerator_info"][0]["accelerator_memory_type"].as_string(), "HBM");
}

TEST(Submission, ResponsesAreCutAsTheRulesSay) {
  Json list = Json::array();
  for (int i = 0; i < 1000; ++i) list.push_back(format("answer number {}", i));
  const Json cut = cut_responses(Json().set("score", 1).set("responses", list), 10'240);
  EXPECT_LE(cut["responses"].dump().size(), 10'240U);
  EXPECT_GT(cut["responses"].dump().size(), 10'000U);
  EXPECT_EQ(cut["score"].as_int(), 1);
  Json map = Json::object();
  for (int i = 0; i < 1000; ++i) map.set(format("k{}", i), "some answer");
  EXPECT_LE(cut_responses(Json().set("responses", map), 10'240)["responses"].dump().size(),
            10'240U);
  const Json small = Json().set("responses", Json::array());
  EXPECT_EQ(cut_responses(small, 10'240), small);
}

TEST(Submission, NamesOfFolders) {
  EXPECT_EQ(folder_name("Example 8x"), "Example_8x");
  EXPECT_EQ(folder_name("../../etc"), "_.._etc");
  EXPECT_EQ(folder_name(""), "system");
}

}  // namespace
}  // namespace assay::interchange
