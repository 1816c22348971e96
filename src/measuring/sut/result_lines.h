// The detail log's lines of the settings and of the result, in the stock library's order and with
// its names and units ("result_token_throughput" divides by nanoseconds, as there). Any thread.
#pragma once

#include "loadgen/settings.h"
#include "loadgen/verdict.h"
#include "sut/log_files.h"
#include "sut/mlperf/test_settings.h"

namespace assay::sut {

// `asked` with an audit's changes.
void log_settings(const mlperf::TestSettings& asked, const loadgen::EffectiveSettings& settings,
                  LogFiles& log);
void log_result(const loadgen::EffectiveSettings& settings, const loadgen::Recorded& recorded,
                const loadgen::Verdict& verdict, LogFiles& log);

}  // namespace assay::sut
