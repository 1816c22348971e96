// Task files shown, listed, printed to copy, and their made-up rows written. `assay tasks` is the
// command.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"

namespace assay::task {

struct ShownTask {
  std::string name{};    // "": all are listed
  std::string sample{};  // the folder for its rows; "": none are written
  bool yaml = false;
  bool json = false;
};

// Returns the exit code.
Result<int> show_tasks(const ShownTask& options, const Talk& talk);

}  // namespace assay::task
