// merge_ranks makes one run of the folders that the ranks of a run of several hosts wrote: their
// event logs as they are, side by side, and clocks.json, which says how to read them in one time
// (record/clock_map.h). Percentiles are of all events, not of histograms. One thread.
#pragma once

#include <filesystem>
#include <vector>

#include "audit/loaded_run.h"
#include "base/result.h"
#include "ranks/session.h"

namespace assay::campaign {

struct MergeOptions {
  bool allow_missing = false;           // else every rank's folder must be there
  std::vector<ranks::LostRank> lost{};  // ranks known to have died, and why
};

// `out` must hold no run yet. The folders stay as they are, in any order. Code::invalid where they
// are no ranks of one run, or one is missing.
Result<audit::LoadedRun> merge_ranks(const std::vector<std::filesystem::path>& folders,
                                     const std::filesystem::path& out, const MergeOptions& options);

}  // namespace assay::campaign
