// --interference, of `assay run`: the classes of a mix alone, in pairs and all together, each a run
// of its own, and what they do to one another (metrics/interference.h). --each-class: only alone,
// one after the other, which sweeps what the classes differ in: lengths, sizes of pictures.
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
  bool each = false;  // --each-class
};

// Measures below the run's folder, and writes interference.json or each_class.json there. Returns
// the exit code.
Result<int> measure_interference(const RunFlags& settings, const InterferenceOptions& options,
                                 std::vector<std::string> command);

}  // namespace assay::cli
