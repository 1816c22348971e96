// --power-director, of `assay run`: one power session with MLCommons' director, of two runs of the
// same load (meter/director.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/recorded_run.h"
#include "campaign/run_settings.h"

namespace assay::campaign {

struct PowerSessionOptions {
  ClientOptions client{};
  bool json = false;
  bool quiet = false;
  std::string director{};  // HOST, HOST:PORT or HOST:PORT/LABEL
};

// Measures into ranging/ and run_1/ of the run's folder, and puts the session's files there and in
// power/; run_1/power.json has the energy by the analyzer's log. Returns the exit code.
Result<int> measure_power_session(const RunSettings& settings, const PowerSessionOptions& options,
                                  std::vector<std::string> command, const Talk& talk);

}  // namespace assay::campaign
