// What attacks change, without asking an endpoint: a taxonomy checked, prompts attacked, the pairs
// of a run again. `assay jailbreak WHAT` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/safety/safety_inputs.h"

namespace assay::campaign {

struct JailbreakActs {
  std::string what{};
  std::string path{};
  std::string attacks = "standin";
  SafetyInputs inputs{};
};

// Does options.what. Returns the exit code.
Result<int> act_on_attacks(const JailbreakActs& options, const Talk& talk);

}  // namespace assay::campaign
