// Which measured system serves a promise to how many users, and at what cost: `assay decide`, over
// the folders of curves (decide/rank.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "decide/cost.h"

namespace assay::campaign {

struct DecideOptions {
  std::vector<std::string> systems{};
  std::string slo{};
  std::string prices{};
  bool json = false;
  decide::CostInputs inputs{};
};

// Returns the exit code.
Result<int> show_decision(const DecideOptions& options, const Talk& talk);

}  // namespace assay::campaign
