// Several runs of one thing, loaded one after another for a comparison of repeats: only the first
// stays in memory whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/compared_side.h"
#include "compare/repeats.h"

namespace assay::campaign {

// The runs that `folder` names: itself, or, if it holds no run but folders that do, those in the
// order of their names. A folder without any is itself: who loads it says what it lacks.
std::vector<std::string> runs_in(const std::string& folder);

struct LoadedRepeats {
  compare::Repeats repeats{};
  std::unique_ptr<ComparedSide> first{};
  std::string first_name{};
};

// Loads `runs`, and adds to `refusals` each that differs from `reference` in its work; nullptr:
// from the first of these. REQUIRES: a run.
Result<LoadedRepeats> load_repeats(const std::string& name, const std::vector<std::string>& runs,
                                   const std::string& tokenizer,
                                   const compare::CompareOptions& options,
                                   const compare::ComparedRun* reference,
                                   std::vector<std::string>& refusals);

}  // namespace assay::campaign
