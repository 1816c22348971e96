// A safety run, a series of them, or a curve with one, checked by Assay's own rules and shown.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/safety/asked_gate.h"

namespace assay::campaign {

struct SafetyCheck {
  std::string tree{};
  std::string output = "text";  // or json
  std::string file{};           // where it goes; "": the terminal
  bool strict = false;          // warnings count as errors
  bool quiet = false;           // errors only
};

// Returns the exit code.
Result<int> show_safety_check(const SafetyCheck& options, SafetyGate& gate, const Talk& talk);

}  // namespace assay::campaign
