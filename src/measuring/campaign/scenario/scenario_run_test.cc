#include "campaign/scenario/scenario_run.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "loadgen/builtin_conf.h"
#include "plan/config_reader.h"

namespace assay::campaign {
namespace {

using loadgen::Scenario;

Result<ScenarioTest> scenario_of(std::string_view workload, std::string_view edition,
                                 std::string_view scenario, const std::string& conf = {}) {
  ASSIGN_OR_RETURN(const plan::Workload found, plan::Workloads::builtin().find(workload, edition));
  return read_scenario({.scenario = std::string(scenario), .workload = &found, .user_conf = conf});
}

// The built-in file and the workloads are two sources for one rule.
TEST(ScenarioRun, a_workloads_limits_are_those_of_loadgens_own_file) {
  const plan::Workloads workloads = plan::Workloads::builtin();
  int compared = 0;
  for (const std::string& name : workloads.names()) {
    const auto workload = workloads.find(name);
    ASSERT_TRUE(workload);
    if (!workload->edition.starts_with("inference-")) continue;
    for (const std::string& scenario : workload->scenarios()) {
      if (!is_scenario(scenario)) continue;
      SCOPED_TRACE(name + " " + scenario);
      const auto test = scenario_of(name, "", scenario);
      ASSERT_TRUE(test) << test.error().message;
      // The checker knows limits of qwen3-vl that LoadGen's file does not, and models too.
      const bool own = workload->data["model"]["loadgen"].as_string().empty() ||
                       (name == "qwen3-vl-235b-a22b" && scenario == "interactive");
      EXPECT_EQ(test->notes.empty(), !own);
      if (own) continue;
      if (test->test.requested.scenario != Scenario::Server) continue;
      loadgen::TestSettings alone;
      alone.scenario = Scenario::Server;
      const auto conf = loadgen::builtin_conf(test->test.edition);
      ASSERT_TRUE(conf && conf->apply(test->test.model, Scenario::Server,
                                      loadgen::ConfKind::built_in, alone));
      EXPECT_EQ(test->test.requested.to_json().dump(), alone.to_json().dump());
      ++compared;
    }
  }
  EXPECT_GT(compared, 15);
}

TEST(ScenarioRun, editions_and_scenarios_choose_the_section) {
  const auto edge = scenario_of("llama3.1-8b", "inference-v6.1-edge", "single_stream");
  ASSERT_TRUE(edge) << edge.error().message;
  EXPECT_EQ(edge->test.model, "llama3_1-8b-edge");
  EXPECT_EQ(edge->test.edition, "v6.1");
  EXPECT_TRUE(edge->test.requested.use_token_latencies);
  const auto interactive = scenario_of("llama2-70b", "inference-v6.0", "interactive");
  ASSERT_TRUE(interactive) << interactive.error().message;
  EXPECT_EQ(interactive->test.model, "llama2-70b-interactive");
  EXPECT_EQ(interactive->test.edition, "v6.0");
  EXPECT_EQ(interactive->test.requested.server_ttft_latency, 450'000'000U);
  EXPECT_EQ(interactive->test.requested.min_duration_ms, 600'000U);
  // The rules say 20 ms where LoadGen's file and the checker say 15.
  const auto rules = scenario_of("gpt-oss-120b", "inference-v6.1-rules", "interactive");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(rules->test.requested.server_tpot_latency, 20'000'000U);
  EXPECT_FALSE(scenario_of("mixtral-8x7b", "", "interactive"));
  EXPECT_FALSE(read_scenario({.scenario = "interactive"}));
  EXPECT_FALSE(read_scenario({.scenario = "burst"}));
  EXPECT_FALSE(read_scenario({.scenario = "server", .edition = "v3.1"}));
}

TEST(ScenarioRun, each_file_counts_over_those_before_it) {
  const TempFolder folder;
  const std::string user = (folder.path() / "user.conf").string();
  const std::string audit = (folder.path() / "audit.config").string();
  ASSERT_TRUE(write_file_atomic(user,
                                "*.Server.ttft_latency = 7\n*.Server.target_qps = 3\n"
                                "*.Server.min_duration = 5\n*.Sever.target_qps = 9\n"));
  ASSERT_TRUE(write_file_atomic(audit, "*.*.min_duration = 0\n"));
  const auto workload = plan::Workloads::builtin().find("llama2-70b");
  ASSERT_TRUE(workload);
  const auto test = read_scenario({.scenario = "server",
                                   .workload = &*workload,
                                   .user_conf = user,
                                   .audit_conf = audit,
                                   .target_qps = 4});
  ASSERT_TRUE(test) << test.error().message;
  const loadgen::TestSettings& asked = test->test.requested;
  EXPECT_EQ(asked.server_ttft_latency, 7'000'000U);
  EXPECT_EQ(asked.server_tpot_latency, 200'000'000U);
  EXPECT_EQ(asked.server_target_qps, 4);
  EXPECT_EQ(asked.min_duration_ms, 0U);
  ASSERT_EQ(test->notes.size(), 1U);
  EXPECT_NE(test->notes[0].find("*.Sever.target_qps"), std::string::npos);
  EXPECT_NE(test->test.user_conf.find("ttft_latency = 7"), std::string::npos);
}

struct Planned {
  plan::Config config{};
  plan::PlanBundle bundle{};
};

Planned planned_config(const loadgen::Test& test, std::string_view more = {}) {
  plan::ConfigReader reader([](const std::string&) { return std::optional<std::string>(); }, 1000);
  for (const auto& [name, value] : scenario_flags(test)) reader.flag(name, value);
  reader.flag("--endpoint", "http://localhost:1");
  reader.flag("--model", "m");
  reader.flag("--isl", "4");
  reader.flag("--prompts", "50");
  if (!more.empty()) reader.flag("--max-in-flight", more);
  const auto loaded = reader.finish();
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  if (!loaded) return {};
  auto datasets = plan::load_datasets(loaded->config);
  EXPECT_TRUE(datasets);
  auto bundle = plan::make_plan(loaded->config, *std::move(datasets));
  EXPECT_TRUE(bundle) << (bundle ? "" : bundle.error().message);
  return bundle ? Planned{loaded->config, *std::move(bundle)} : Planned{};
}

loadgen::Test any_test(Scenario scenario, std::string name) {
  loadgen::Test out{.name = std::move(name), .edition = "v6.1"};
  out.requested.scenario = scenario;
  out.requested.min_duration_ms = 2000;
  return out;
}

TEST(ScenarioRun, a_config_keeps_what_the_plan_became) {
  loadgen::Test test = any_test(Scenario::Server, "server");
  test.requested.server_target_qps = 100;
  Planned run = planned_config(test);
  const auto planned = plan_scenario(test, 1, run.config, run.bundle);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->test.library.total, 50U);
  EXPECT_EQ(planned->test.generated, run.bundle.plan.phases[0].arrivals.size());
  EXPECT_EQ(run.config.settings.runtime.n_samples_to_issue, planned->test.generated);
  EXPECT_EQ(run.config.settings.load_pattern.target_qps, 100);
  EXPECT_EQ(planned->in_turn.group, 0U);
  EXPECT_EQ(planned->test.sut_name, "m at http://localhost:1");
  EXPECT_FALSE(run.bundle.keep_text);
}

TEST(ScenarioRun, offline_has_a_cap_and_the_streams_ask_from_one_thread) {
  const loadgen::Test offline = any_test(Scenario::Offline, "offline");
  Planned run = planned_config(offline);
  auto planned = plan_scenario(offline, 4, run.config, run.bundle);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->test.in_flight_max, kOfflineInFlight);
  EXPECT_EQ(run.config.settings.load_pattern.max_in_flight, kOfflineInFlight);
  run = planned_config(offline, "9");
  planned = plan_scenario(offline, 4, run.config, run.bundle);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(run.bundle.plan.phases[0].limits.front().in_flight_max, 9U);

  const loadgen::Test multi = any_test(Scenario::MultiStream, "multi_stream");
  run = planned_config(multi);
  EXPECT_EQ(run.config.settings.load_pattern.target_concurrency, 8U);
  planned = plan_scenario(multi, 1, run.config, run.bundle);
  ASSERT_TRUE(planned) << planned.error().message;
  EXPECT_EQ(planned->in_turn.group, 8U);
  EXPECT_FALSE(plan_scenario(multi, 2, run.config, run.bundle));
  run = planned_config(multi, "9");
  EXPECT_FALSE(plan_scenario(multi, 1, run.config, run.bundle));
}

TEST(ScenarioRun, a_test_that_logs_answers_keeps_texts_and_one_of_tokens_streams) {
  loadgen::Test test = any_test(Scenario::Server, "server");
  test.requested.accuracy_log_sampling_target = 100;
  test.requested.use_token_latencies = true;
  Planned run = planned_config(test);
  ASSERT_TRUE(plan_scenario(test, 1, run.config, run.bundle));
  EXPECT_TRUE(run.bundle.keep_text);
  EXPECT_EQ(run.config.settings.recording.keep_text, plan::Switch::on);
  run.bundle.datasets[0].generation.stream = false;
  EXPECT_FALSE(plan_scenario(test, 1, run.config, run.bundle));
}

}  // namespace
}  // namespace assay::campaign
