// What is done about safety without asking an endpoint: lists of standards and packs, keys, sealed
// sets and their proofs, grades of files of verdicts, agreement of judges, a folder checked again.
// `assay safety WHAT` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/safety/safety_inputs.h"

namespace assay::campaign {

struct SafetyActs {
  std::string what{};
  std::string path{};
  std::string standard = "standin";
  std::string out{};
  std::string commitment{};
  std::string key_file{};
  SafetyInputs inputs{};
};

// Does options.what. Returns the exit code.
Result<int> act_on_safety(const SafetyActs& options, const Talk& talk);

}  // namespace assay::campaign
