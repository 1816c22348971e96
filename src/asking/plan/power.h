// settings.power, the reference client's block for a source of power readings beside the load, as
// settings.telemetry says the same:
//
//   nvidia_smi   the cards of options.gpu_indices, or all: --meter nvml
//   prometheus   options.query at options.url, watts a series: --meter query:URL
//   command      options.argv, which prints {"ts", "value", "label"} a line: --meter-command
//
// Pure; any thread.
#pragma once

#include "base/result.h"
#include "plan/config.h"

namespace assay::plan {

// The telemetry of the settings with the block's source in it. The error names the key.
Result<TelemetryConfig> telemetry_with_power(const Settings& settings);

}  // namespace assay::plan
