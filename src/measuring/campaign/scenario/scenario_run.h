// One of LoadGen's scenarios over a network: the settings of a test, from the built-in file, the
// user's and an audit's; the config of a run that fits them; and the plan whose performance phase
// asks what LoadGen would ask. From then on it is a run like any other: record_run() records it,
// and each report judges it again from its log (loadgen/test.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "loadgen/test.h"
#include "plan/config.h"
#include "plan/make_plan.h"
#include "plan/workload.h"
#include "run/in_turn.h"

namespace assay::campaign {

// "single_stream", "multi_stream", "server", "offline", "interactive".
bool is_scenario(std::string_view name);
std::vector<std::string_view> scenario_words();

// Offline sends everything at once; a client has fewer connections than that.
inline constexpr std::uint32_t kOfflineInFlight = 1024;

struct ScenarioWish {
  std::string scenario{};
  std::string edition{};  // "v6.1", "inference-v6.1", or ""; of a workload its own
  const plan::Workload* workload = nullptr;
  std::string user_conf{};  // paths; may be empty
  std::string audit_conf{};
  std::optional<double> target_qps{};  // over the files; Server and Interactive
};

struct ScenarioTest {
  loadgen::Test test{};
  std::string checker_names{};  // the workload's in the submission checker, "bert-99, bert-99.9"
  std::vector<std::string> notes{};
};

// Reads the files. Each over those before it: the built-in file, the limits of the workload's
// edition, the user's file, an audit's.
Result<ScenarioTest> read_scenario(const ScenarioWish& wish);

// The settings of a run's config that the test decides, as flags of plan/config_reader.h and their
// values: how the load is named, and which datasets are asked.
std::vector<std::pair<std::string, std::string>> scenario_flags(const loadgen::Test& test);
// Flags that name a load of the user's own: beside one a scenario is no test of LoadGen's.
const std::vector<std::string_view>& load_flags();

// What record_run() needs beside the plan.
struct PlannedScenario {
  loadgen::Test test{};
  run::InTurnRule in_turn{};
  std::vector<std::string> notes{};
  Json facts() const;  // for the run's log
};

// Puts the test into the bundle's performance phase, and the counts that follow into `config`,
// which the run folder keeps. `threads`: the client's. Fails where the test can't be asked so.
Result<PlannedScenario> plan_scenario(loadgen::Test test, std::uint64_t threads,
                                      plan::Config& config, plan::PlanBundle& bundle);

// The test that asks for accuracy alone: each sample once, as the accuracy datasets of any run do.
Result<PlannedScenario> accuracy_scenario(loadgen::Test test, const plan::Config& config,
                                          const plan::PlanBundle& bundle);

}  // namespace assay::campaign
