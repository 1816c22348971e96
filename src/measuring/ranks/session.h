// RankSession: one process's part in a run of several hosts. The plan is deterministic, so each
// rank computes its own share of it; the ranks talk only to meet, to start at one instant, and to
// compare their clocks. Rank 0 listens; the others connect to it. At most one probe a second and
// rank goes over that connection while the load runs, and nothing about queries.
//
//     join → start → (the load) → after_load → leave
//
// The calls belong to one thread. The session has a thread of its own: rank 0's answers the others,
// another rank's sends probes. If rank 0 is lost after the start, the others go on without it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "domain/run_info.h"
#include "ranks/place.h"
#include "record/clock_map.h"
#include "run/run.h"

namespace assay::ranks {

// What must be equal on all ranks.
struct Agreement {
  std::string version{};
  std::string plan_digest{};
  std::uint32_t threads = 1;
};

struct LostRank {
  std::uint32_t rank = 0;
  std::string host{};
  std::string why{};  // "its connection broke during the load"
};

class RankSession {
 public:
  // Waits for all ranks, up to place.patience; compares clocks for the first time. `run_id` is the
  // whole run's name: rank 0 passes it in, the others get it. Fails, on every rank, where one does
  // not come or does not agree. A request to stop through `control` ends the wait.
  static Result<std::unique_ptr<RankSession>> join(const RankPlace& place, const Agreement& mine,
                                                   std::string run_id, const run::Control& control);
  virtual ~RankSession() = default;

  virtual const std::string& run_id() const = 0;
  // Waits until every rank is ready. Returns the common start in this host's time.
  virtual Result<Instant> start(const run::Control& control) = 0;
  // The probes so far. Call it between join() and start().
  virtual std::vector<record::ClockProbe> probes() = 0;
  // After the load: compares clocks for the last time. Returns all probes in order; rank 0 has
  // none.
  virtual std::vector<record::ClockProbe> after_load() = 0;
  // Says how this rank ended, when its folder is written. Rank 0 waits for the others, up to
  // place.patience after the last word of any of them, and returns those that were lost.
  virtual std::vector<LostRank> leave(const RunEnd& end, const run::Control& control) = 0;
};

}  // namespace assay::ranks
