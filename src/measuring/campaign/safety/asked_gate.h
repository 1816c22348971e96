// SafetyGate: the least grade and the largest gap of attacks of the commands that show or check
// safety runs. The rules are Assay's own (safety/level_gate.h); the command ends with exit code 5
// where a grade is too low, or attacks change too much.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/exit_code.h"
#include "base/json.h"
#include "base/result.h"
#include "campaign/safety/safety_gate.h"
#include "campaign/safety/safety_inputs.h"

namespace assay::campaign {

class SafetyGate {
 public:
  std::string word{};    // --safety-min, as typed
  std::string points{};  // --attack-gap-max
  SafetyInputs own{};    // of a command that has no other inputs

  // `shared`: of a command that has --seal-key itself; null: `own`.
  explicit SafetyGate(const SafetyInputs* shared = nullptr)
      : inputs_(shared != nullptr ? shared : &own) {}
  SafetyGate(const SafetyGate&) = delete;
  SafetyGate& operator=(const SafetyGate&) = delete;
  Result<void> understand();
  bool asked() const { return least_.has_value() || most_.has_value(); }
  // With the folder's pack.
  bool held() const;

  // Judges the safety runs of a folder by all rules.
  Result<void> judge(const std::filesystem::path& folder);
  const GatedFolder& judged() const { return judged_; }
  // Adds the causes of the exit code, and `safety` to the result. `all`: every rule counts; else
  // the least grade alone.
  void finish(bool all, Ending& ending, Json* result) const;
  // What the flags found, in lines; "" where none was given.
  std::string text() const;

 private:
  const SafetyInputs* inputs_;  // whose key; never null
  std::optional<safety::Grade> least_{};
  std::optional<double> most_{};  // of the attack gap, as a share
  GatedFolder judged_{};
};

}  // namespace assay::campaign
