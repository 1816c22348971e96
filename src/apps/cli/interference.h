// --interference, of `assay run`: the classes of a mix alone, in pairs and all together, each a run
// of its own, and what they do to one another (metrics/interference.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/recorded_run.h"
#include "cli/commands.h"
#include "cli/run_flags.h"

namespace assay::cli {

struct InterferenceOptions {
  campaign::ClientOptions client{};
  bool json = false;
  bool quiet = false;
};

// Measures below the run's folder, and writes interference.json there. Returns the exit code.
Result<int> measure_interference(const RunFlags& settings, const InterferenceOptions& options,
                                 std::vector<std::string> command);

}  // namespace assay::cli
