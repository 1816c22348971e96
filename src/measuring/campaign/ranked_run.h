// `assay run` as one process of a run of several hosts: its folder, and what rank 0 does
// when all have ended.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/recorded_run.h"
#include "plan/make_plan.h"
#include "ranks/place.h"

namespace assay::campaign {

// DIR/rank-I, of the folder that the user named for all ranks.
Result<std::filesystem::path> rank_folder(const ranks::RankPlace& place,
                                          const std::string& report_dir);

// Each rank keeps at least one query in flight, so a load of fewer than the ranks can't be shared.
Result<void> check_load_of_ranks(const ranks::RankPlace& place, const plan::Config& config);

// On rank 0, after its own part: merges all ranks' folders into DIR/merged, scores what the config
// asks for, and puts the merged run in the place of rank 0's own in `recorded`. Where the other
// folders are not on this machine's disk it says what to do, and leaves `recorded` as it is.
// Returns the folder that `recorded` is of.
Result<std::filesystem::path> merge_on_rank_0(const ranks::RankPlace& place,
                                              const std::filesystem::path& own_folder,
                                              const plan::Config& config,
                                              const plan::PlanBundle& bundle, bool allow_code,
                                              RecordedRun& recorded, const Talk& talk);

}  // namespace assay::campaign
