// One `assay safety run`, from its options to its words: prompts, standard, judges and pack; a run,
// or one at each level; the grade, held against the gate.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/recorded_run.h"
#include "campaign/run_settings.h"
#include "campaign/safety/asked_gate.h"
#include "campaign/safety/safety_inputs.h"

namespace assay::campaign {

struct SafetyRunOptions {
  ClientOptions client{};
  std::string prompts = "standin";
  std::string standard = "standin";
  std::string judges = "standin";
  std::string attacks{};
  std::string pack{};
  SafetyInputs inputs{};
  std::uint64_t draw = 0;
  std::string draw_seed{};
  std::string report_dir{};
  std::string resume{};
  std::string levels{};
  std::string curve{};
  std::uint64_t retries = 1;
  bool quiet = false;
  std::set<std::string> given{};  // the flags that were typed
};

// `gate`: over options.inputs. `args`: the command's own. Returns the exit code.
Result<int> measure_safety(RunSettings& settings, SafetyRunOptions& options, SafetyGate& gate,
                           std::span<const std::string> args, const Talk& talk);

}  // namespace assay::campaign
