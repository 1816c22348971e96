// --find qps, of `assay run` and `assay curve`: the highest Server rate whose limits hold.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/recorded_run.h"
#include "campaign/run_settings.h"

namespace assay::campaign {

struct RateSearchOptions {
  ClientOptions client{};
  bool json = false;
  bool quiet = false;
};

// Measures below search/ of the run's folder. `settings` must allow tests. Returns the exit code.
Result<int> search_rate(const RunSettings& settings, const RateSearchOptions& options,
                        std::vector<std::string> command, const Talk& talk);

}  // namespace assay::campaign
