// --interference, of `assay run`: the classes of a mix alone, in pairs and all together, each a run
// of its own, and what they do to one another (metrics/interference.h). --each-class: only alone,
// one after the other, which sweeps what the classes differ in: lengths, sizes of pictures.
// --derate: the ladder from the ideal point to their load (derating.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/recorded_run.h"
#include "campaign/run_settings.h"

namespace assay::campaign {

struct InterferenceOptions {
  ClientOptions client{};
  bool json = false;
  bool quiet = false;
  bool each = false;    // --each-class
  double target = 0.9;  // of --derate
};

// Measures below the run's folder, and writes interference.json or each_class.json there. Returns
// the exit code.
Result<int> measure_interference(const RunSettings& settings, const InterferenceOptions& options,
                                 std::vector<std::string> command, const Talk& talk);

// Writes derating.json beside the run's folders. Returns the exit code.
Result<int> measure_derating(const RunSettings& settings, const InterferenceOptions& options,
                             std::vector<std::string> command, const Talk& talk);

}  // namespace assay::campaign
