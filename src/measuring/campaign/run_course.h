// One `assay run`, from its settings to its words: the plan, the run, the audit and the compliance
// tests that may follow it, or one of the series of runs in its place.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/dry_run.h"
#include "campaign/gate.h"
#include "campaign/recorded_run.h"
#include "campaign/results_store.h"
#include "campaign/run_settings.h"
#include "ranks/place.h"

namespace assay::campaign {

struct RunOptions {
  ClientOptions client{};
  bool json = false;
  bool quiet = false;
  std::string store{};
  ResultsStore results{};  // of --store
  std::optional<std::string> prometheus{};
  std::string live{};
  std::string find{};
  std::string compliance{};
  bool interference = false;
  bool each_class = false;
  bool derate = false;
  double derate_target = 0.9;
  std::string power_director{};
  bool dry_run = false;
  ForecastAsked forecast{};
  ranks::RankFlags ranks{};
};

// `args`: the command's own, for the manifest. Returns the exit code.
Result<int> run_once(const RunSettings& settings, const RunOptions& options, Gate& gate,
                     std::span<const std::string> args, const Talk& talk);

}  // namespace assay::campaign
