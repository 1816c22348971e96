// RankSpan: what a run of several hosts says of its ranks: their clocks against rank 0's, how far
// apart they started, who was lost, and the verdict on each one's client. A latency is measured
// within one host and has no part in it; the run's length, and so every rate, has.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "audit/innocence.h"
#include "base/json.h"
#include "base/result.h"
#include "record/event_log.h"

namespace assay::audit {

struct RankPart {
  std::uint32_t rank = 0;
  std::string host{};
  std::string lost{};               // why; "" for a whole one
  Duration offset{};                // rank 0's clock − its own, at its first record
  double drift_ppm = 0;             // how much faster rank 0's clock ran
  Duration bound{};                 // the largest error of its instants in rank 0's time
  Instant began = Instant::none();  // its first record, in rank 0's time; none where it has none
  Innocence innocence{};
};

struct RankSpan {
  std::vector<RankPart> ranks{};
  Duration bound{};         // the largest of all
  Duration start_spread{};  // from the first rank's first record to the last's
  // Twice the bound over the run's length: how far every rate may be off by the clocks.
  double rate_error = 0;
};

// Reads a merged run's folder (docs/formats/run_folder.md) again, rank by rank. `replay` and
// `point` are the whole run's; `client` is its client.json.
Result<RankSpan> read_ranks(const std::filesystem::path& folder, const record::RunReplay& replay,
                            const metrics::Point& point, const Json& client,
                            const JudgeOptions& how);

// If one rank's client was the bottleneck, the run's was. Adds doubt of rates that the clocks leave
// open.
Innocence judge_ranks(const RankSpan& span);

Json to_json(const RankSpan& span);
// "4 ranks on 2 hosts; clocks within 0.12 ms; started within 0.3 ms"
std::string ranks_text(const RankSpan& span);

}  // namespace assay::audit
