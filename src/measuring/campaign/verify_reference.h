// verify_reference checks a run folder of the reference client for endpoints: it computes the
// figures of performance/result_summary.json again from events.jsonl, by that client's own rules,
// and lists each that differs. A failed query is completed there, and in the latencies.
//
// Not checked, because the events do not have them: token figures (tpot, lengths, tps). The
// percentiles of an interrupted run are not checked either: that client then takes them from
// buckets. Figures are equal to the last digit, but for the rounding of a double. One thread.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "campaign/verified_run.h"

namespace assay::campaign {

// `records` are the queries of the measured phase. Fails if the folder cannot be read.
Result<VerifiedRun> verify_reference(const std::filesystem::path& folder);

}  // namespace assay::campaign
