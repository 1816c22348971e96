// SafetyGate: --safety-min of the commands that show or check safety runs. The rules are Assay's
// own (safety/level_gate.h); the command ends with exit code 5 where a grade is too low.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "base/exit_code.h"
#include "base/flags.h"
#include "base/json.h"
#include "campaign/safety/safety_gate.h"

namespace assay::cli {

class SafetyGate {
 public:
  // This must outlive flags.parse().
  explicit SafetyGate(Flags& flags);
  // After flags.parse().
  Result<void> understand();
  bool asked() const { return least_.has_value(); }

  // Judges the safety runs of a folder by all rules.
  Result<void> judge(const std::filesystem::path& folder);
  const campaign::GatedFolder& judged() const { return judged_; }
  // Adds the causes of the exit code, and `safety` to the result. `all`: every rule counts; else
  // the least grade alone.
  void finish(bool all, Ending& ending, Json* result) const;
  // What --safety-min found, in lines; "" where it was not given.
  std::string text() const;

 private:
  std::string word_{};
  std::optional<safety::Grade> least_{};
  campaign::GatedFolder judged_{};
};

}  // namespace assay::cli
