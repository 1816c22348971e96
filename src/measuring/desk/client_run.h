// A client run: the config and the plan that ask a series, one inference at a time, and the result
// that follows from the run's folder alone: its event log, which keeps the series among its facts,
// and its telemetry. docs/formats/client_result.md. One thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"
#include "desk/client_config.h"
#include "desk/figures.h"
#include "desk/series.h"
#include "plan/make_plan.h"

namespace assay::desk {

inline constexpr const char* kClientResult = "client_result.json";

// The prompt files that a scenario names, read. A location is looked for below `prompts` by its
// last parts, the longest match first; else, where it is a path or file://, beside the config.
// Nothing is downloaded. `groups`: those that are asked.
Result<std::vector<PromptFile>> scenario_prompts(const ClientScenario& scenario,
                                                 const std::filesystem::path& config_folder,
                                                 const std::filesystem::path& prompts,
                                                 const std::vector<std::string>& groups);

// The rows as JSON lines, for a dataset file.
std::string dataset_text(const Series& series);

// Makes the plan ask the rows one after the other, each `delay` after the end of the one before;
// the first of a set of inferences follows at once. REQUIRES: a plan of one performance phase over
// the series' rows.
void order_plan(const Series& series, Duration delay, plan::PlanBundle& bundle);

struct ClientResult {
  ClientFigures figures{};
  Json json{};
  std::string text{};  // one screen
};

// Fails with Code::not_found where the folder's run is none of `assay client`.
Result<ClientResult> client_result(const std::filesystem::path& folder);

}  // namespace assay::desk
