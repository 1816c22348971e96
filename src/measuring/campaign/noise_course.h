// How far equal runs differ, and how many runs show a change: `assay noise`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/compare_course.h"

namespace assay::campaign {

struct NoiseAsked {
  std::vector<std::string> folders{};
  std::string tokenizer{};
  std::string changes = "2%,5%,10%";
  double power_percent = 90;
  bool json = false;
  CompareAsked compare{};
};

// Returns the exit code.
Result<int> show_noise(NoiseAsked typed, const Talk& talk);

}  // namespace assay::campaign
