// SafetyGate: --safety-min and --attack-gap-max of the commands that show or check safety runs. The
// rules are Assay's own (safety/level_gate.h); the command ends with exit code 5 where a grade is
// too low, or attacks change too much.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/json.h"
#include "campaign/safety/safety_gate.h"
#include "cli/safety_inputs.h"

namespace assay::cli {

class SafetyGate {
 public:
  // This must outlive flags.parse(). `shared`: of a command that has --seal-key itself; null: it
  // is added here.
  explicit SafetyGate(Flags& flags, const SafetyInputs* shared = nullptr);
  SafetyGate(const SafetyGate&) = delete;
  SafetyGate& operator=(const SafetyGate&) = delete;
  // After flags.parse().
  Result<void> understand();
  bool asked() const { return least_.has_value() || most_.has_value(); }
  // With the folder's pack.
  bool held() const;

  // Judges the safety runs of a folder by all rules.
  Result<void> judge(const std::filesystem::path& folder);
  const campaign::GatedFolder& judged() const { return judged_; }
  // Adds the causes of the exit code, and `safety` to the result. `all`: every rule counts; else
  // the least grade alone.
  void finish(bool all, Ending& ending, Json* result) const;
  // What the flags found, in lines; "" where none was given.
  std::string text() const;

 private:
  std::string word_{};
  std::string points_{};
  SafetyInputs own_{};
  const SafetyInputs* inputs_;  // whose key; never null
  std::optional<safety::Grade> least_{};
  std::optional<double> most_{};  // of the attack gap, as a share
  campaign::GatedFolder judged_{};
};

}  // namespace assay::cli
