// Every workload that ships names scorers that there are, and demands only what they measure.
#include <gtest/gtest.h>

#include <algorithm>

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
    EXPECT_TRUE(named) << where << ": " << metric << " is no figure of its scorers";
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

// The config's reader knows scorers without the room that has them.
TEST(Scorers, are_those_that_a_config_may_name) {
  for (const std::string_view name : score::scorer_names()) {
    const std::string text = format(
        "type: online\nmodel_params: {{name: m}}\nendpoint_config: {{endpoints: "
        "[\"http://h:1\"]}}\n"
        "settings: {{load_pattern: {{type: concurrency, target_concurrency: 1}}}}\n"
        "datasets:\n  - {{name: p, type: performance, path: p.jsonl}}\n"
        "  - {{name: a, type: accuracy, path: a.jsonl, accuracy_config: {{eval_method: {}, "
        "extractor: identity_extractor}}}}\n",
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
