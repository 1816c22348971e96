// Every shipped workload names existing scorers, and sets limits only on their metrics.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/format.h"
#include "plan/config_reader.h"
#include "plan/workload.h"
#include "score/quality_gate.h"
#include "score/scorer.h"

namespace assay::cli {
namespace {

bool is_scorer(std::string_view name) { return !score::scorer_about(name).empty(); }

void check_demands(const Json& quality, const Json& scorers, const std::string& where) {
  for (const Json& demand : quality.items()) {
    const std::string metric(demand["metric"].as_string());
    const auto says = score::scorers_of_metric(metric);
    EXPECT_FALSE(says.empty()) << where << ": nobody measures " << metric;
    const bool named = std::any_of(says.begin(), says.end(), [&](std::string_view scorer) {
      return scorer.empty() ||
             std::any_of(scorers.items().begin(), scorers.items().end(),
                         [&](const Json& one) { return one.as_string() == scorer; });
    });
    EXPECT_TRUE(named) << where << ": " << metric << " is not a figure of its scorers";
  }
}

TEST(Workloads, name_scorers_that_there_are_and_demand_what_they_measure) {
  const plan::Workloads all = plan::Workloads::builtin();
  for (const std::string& name : all.names()) {
    const auto editions = all.editions_of(name);
    ASSERT_TRUE(editions) << name;
    for (const std::string& edition : *editions) {
      const auto workload = all.find(name, edition);
      ASSERT_TRUE(workload) << workload.error().message;
      const std::string where = format("{} ({})", name, edition);
      const Json& scorers = workload->data["scorers"];
      // What only the suite's own program scores says so.
      const bool external = workload->data["scorer"].as_string().starts_with("external");
      if (external && scorers.size() == 0) continue;
      EXPECT_GT(scorers.size(), 0u) << where << " names no scorer";
      for (const Json& scorer : scorers.items()) {
        EXPECT_TRUE(is_scorer(scorer.as_string())) << where << ": no scorer " << scorer.as_string();
      }
      check_demands(workload->data["quality"], scorers, where);
      for (const auto& [scenario, from] : workload->data["scenarios"].members()) {
        check_demands(from["quality"], scorers, where + " " + scenario);
      }
      for (const Json& data : workload->data["config"]["datasets"].items()) {
        const Json& method = data["accuracy_config"]["eval_method"];
        if (method.is_string()) {
          EXPECT_TRUE(is_scorer(method.as_string())) << where << ": " << method.as_string();
        }
      }
    }
  }
}

struct Limit {
  std::string_view metric{};
  std::optional<double> at_least{};
  std::optional<double> at_most{};
};

struct Limits {
  std::string_view workload{};
  std::string_view edition{};
  std::vector<Limit> limits{};
};

// The limits in the submission checkers of v5.0, v6.0 and v6.1: a reference and a factor.
std::vector<Limits> limits_of_the_checkers() {
  const auto none = std::nullopt;
  return {
      {"bert-99", "inference-v6.1", {{"f1", 90.874 * 0.99, none}, {"f1", 90.874 * 0.999, none}}},
      {"deepseek-r1",
       "inference-v6.1",
       {{"exact_match", 0.99 * 81.3582, none},
        {"tokens_per_sample", 0.9 * 3886.2274, 1.1 * 3886.2274}}},
      {"dlrm-v3",
       "inference-v6.1-checker",
       {{"normalised_entropy", 0.86687 * 0.999, none},
        {"accuracy", 0.69651 * 0.999, none},
        {"auc", 0.78663 * 0.999, none}}},
      {"gpt-j-6b",
       "inference-v5.0",
       {{"rouge1", 42.9865 * 0.99, none},
        {"rouge2", 20.1235 * 0.99, none},
        {"rougeL", 29.9881 * 0.99, none},
        {"gen_len", 4016878 * 0.9, none},
        {"rouge1", 42.9865 * 0.999, none},
        {"rouge2", 20.1235 * 0.999, none},
        {"rougeL", 29.9881 * 0.999, none},
        {"gen_len", 4016878 * 0.9, none}}},
      {"gpt-oss-120b",
       "inference-v6.1",
       {{"exact_match", 83.13 * 0.99, none}, {"tokens_per_sample", none, 1.1 * 9999}}},
      {"llama2-70b",
       "inference-v6.1",
       {{"rouge1", 44.4312 * 0.999, none},
        {"rouge2", 22.0352 * 0.999, none},
        {"rougeL", 28.6162 * 0.999, none},
        {"tokens_per_sample", 294.45 * 0.9, 294.45 * 1.1}}},
      {"llama3.1-405b",
       "inference-v6.0",
       {{"rougeL", 21.6666 * 0.99, none},
        {"exact_match", 90.1335 * 0.99, none},
        {"tokens_per_sample", 684.68 * 0.9, 684.68 * 1.1}}},
      {"llama3.1-8b",
       "inference-v6.1",
       {{"rouge1", 38.7792 * 0.99, none},
        {"rouge2", 15.9075 * 0.99, none},
        {"rougeL", 24.4957 * 0.99, none},
        {"rougeLsum", 35.793 * 0.99, none},
        {"gen_len", 8167644 * 0.9, 8167644 * 1.1}}},
      {"mixtral-8x7b",
       "inference-v6.0",
       {{"rouge1", 45.5989 * 0.99, none},
        {"rouge2", 23.3526 * 0.99, none},
        {"rougeL", 30.4608 * 0.99, none},
        {"gsm8k", 73.66 * 0.99, none},
        {"mbxp", 60.16 * 0.99, none},
        {"tokens_per_sample", 144.84 * 0.9, 145.9 * 1.1}}},
      {"qwen3-vl-235b-a22b", "inference-v6.1", {{"category_f1", 0.7903 * 0.99, none}}},
      {"resnet50", "inference-v6.1", {{"top1", 76.46 * 0.99, none}}},
      {"rgat", "inference-v6.1", {{"top1", 72.86 * 0.99, none}}},
      {"stable-diffusion-xl",
       "inference-v6.1",
       {{"clip_score", 31.68631873, 31.81331801}, {"fid_score", 23.01085758, 23.95007626}}},
      {"wan2.2-t2v-a14b", "inference-v6.1", {{"vbench_score", 70.48 * 0.99, none}}},
      {"whisper", "inference-v6.1", {{"word_accuracy", (100.0 - 2.0671) * 0.99, none}}},
      {"yolo11l",
       "inference-v6.1",
       {{"coco_map", 53.4 * 0.99, none}, {"coco_map", 53.4 * 0.95, none}}},
  };
}

void expect_bound(const Json& demand, const char* bound, std::optional<double> wanted,
                  const std::string& where) {
  ASSERT_EQ(demand[bound].is_number(), wanted.has_value()) << where << " " << bound;
  if (!wanted) return;
  EXPECT_NEAR(demand[bound].as_double(), *wanted, 1e-6) << where << " " << bound;
}

TEST(Workloads, demand_what_the_submission_checkers_demand_and_no_more) {
  const plan::Workloads all = plan::Workloads::builtin();
  for (const Limits& one : limits_of_the_checkers()) {
    const auto workload = all.find(one.workload, one.edition);
    ASSERT_TRUE(workload) << workload.error().message;
    const Json& quality = workload->data["quality"];
    ASSERT_EQ(quality.size(), one.limits.size()) << one.workload;
    for (std::size_t i = 0; i < one.limits.size(); ++i) {
      const std::string where = format("{} {}", one.workload, one.limits[i].metric);
      EXPECT_EQ(quality[i]["metric"].as_string(), one.limits[i].metric) << where;
      expect_bound(quality[i], "at_least", one.limits[i].at_least, where);
      expect_bound(quality[i], "at_most", one.limits[i].at_most, where);
    }
  }
}

// The config's reader lists scorers without a dependency on their room.
TEST(Scorers, are_those_that_a_config_may_name) {
  for (const std::string_view name : score::scorer_names()) {
    const std::string text = format(
        "type: online\nmodel_params: {{name: m}}\nendpoint_config: {{endpoints: "
        "[\"http://h:1\"]}}\n"
        "settings: {{load_pattern: {{type: concurrency, target_concurrency: 1}}}}\n"
        "datasets:\n  - {{name: p, type: performance, path: p.jsonl}}\n"
        "  - {{name: a, type: accuracy, path: a.jsonl, accuracy_config: {{eval_method: {}, "
        "extractor: identity_extractor, extras: {{task: ifeval}}}}}}\n",
        name);
    plan::ConfigReader reader([](const std::string&) { return std::optional<std::string>(); },
                              28000);
    reader.read_text(text, "config");
    const auto loaded = reader.finish();
    EXPECT_TRUE(loaded) << name << ": " << loaded.error().message;
  }
}

}  // namespace
}  // namespace assay::cli
