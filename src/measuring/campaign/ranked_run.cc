#include "campaign/ranked_run.h"

#include <algorithm>

#include "base/format.h"
#include "base/result.h"
#include "campaign/accuracy.h"
#include "campaign/merge_ranks.h"
#include "campaign/run_folder.h"

namespace assay::campaign {

Result<std::filesystem::path> rank_folder(const ranks::RankPlace& place,
                                          const std::string& report_dir) {
  if (report_dir.empty()) {
    return invalid(
        "--report-dir: a run of several ranks needs a folder\n  the same on every rank; each "
        "writes rank-I in it");
  }
  return std::filesystem::path(report_dir) / format("rank-{}", place.index);
}

Result<void> check_load_of_ranks(const ranks::RankPlace& place, const plan::Config& config) {
  const auto in_flight = config.settings.load_pattern.target_concurrency;
  if (!in_flight || *in_flight >= place.count) return {};
  return invalid(
      format("--concurrency {}: is less than the {} ranks, and each keeps one query in flight\n  "
             "take no more ranks than that, or one process (--rank none)",
             *in_flight, place.count));
}

Result<std::filesystem::path> merge_on_rank_0(const ranks::RankPlace& place,
                                              const std::filesystem::path& own_folder,
                                              const plan::Config& config,
                                              const plan::PlanBundle& bundle, bool allow_code,
                                              RecordedRun& recorded, const Talk& talk) {
  const std::filesystem::path all = own_folder.parent_path();
  std::vector<std::filesystem::path> folders;
  std::string elsewhere;
  for (std::uint32_t rank = 0; rank < place.count; ++rank) {
    const std::filesystem::path folder = all / format("rank-{}", rank);
    std::error_code error;
    if (std::filesystem::exists(folder / "assay", error)) {
      folders.push_back(folder);
    } else if (std::ranges::find(recorded.lost, rank, &ranks::LostRank::rank) ==
               recorded.lost.end()) {
      elsewhere += format("{}{}", elsewhere.empty() ? "" : ", ", rank);
    }
  }
  if (!elsewhere.empty()) {
    talk.say(
        format("the folder of rank {} is not on this machine; what follows is rank 0's share. "
               "Gather the folders, then: assay merge {}/rank-* -o {}/merged",
               elsewhere, all.string(), all.string()));
    return own_folder;
  }
  const std::filesystem::path merged = all / "merged";
  ASSIGN_OR_RETURN(recorded.run,
                   merge_ranks(folders, merged, {.allow_missing = true, .lost = recorded.lost}));
  if (wants_scores(config, bundle)) {
    TRY(score_run(merged, config, bundle, allow_code, IfNone::write));
    TRY(publish_again(merged));
    ASSIGN_OR_RETURN(recorded.run, load_run(merged));
  }
  return merged;
}

}  // namespace assay::campaign
