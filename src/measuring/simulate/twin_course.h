// A model of a measured system: its five constants fitted to the curve, held-out points, changed
// systems beside it. `assay twin` is the command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "report/twin.h"
#include "simulate/system_words.h"

namespace assay::simulate {

struct TwinAsked {
  SystemWords system{};
  report::TwinAnswer answer{};  // with the curve and the changes
  std::string out = "twin.yaml";
  std::string html{};
  bool json = false;
};

// Returns the exit code.
Result<int> make_twin(TwinAsked asked, const Talk& talk);

}  // namespace assay::simulate
