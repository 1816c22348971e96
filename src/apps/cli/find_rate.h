// --find qps, of `assay run` and `assay curve`: the highest Server rate whose limits hold.
#pragma once

#include <string>

#include "base/result.h"
#include "campaign/recorded_run.h"
#include "cli/commands.h"
#include "cli/run_flags.h"

namespace assay::cli {

struct FindRateOptions {
  campaign::ClientOptions client{};
  bool json = false;
  bool quiet = false;
};

// Measures below search/ of the run's folder. `settings` must allow tests. Returns the exit code.
Result<int> find_rate(const RunFlags& settings, const FindRateOptions& options,
                      std::vector<std::string> command);

}  // namespace assay::cli
