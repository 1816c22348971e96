// For the room's own tests: the point of hand-made queries.
#pragma once

#include <utility>
#include <vector>

#include "metrics/point_fold.h"
#include "metrics/testing_hand_made.h"

namespace assay::metrics {

// A run of warm-up, performance and accuracy: phases 0, 1 and 2.
inline RunInfo edge_run(bool open_loop = false) {
  RunInfo info{};
  info.phases = {{PhaseKind::warmup, "warmup", false},
                 {PhaseKind::performance, "performance", open_loop},
                 {PhaseKind::accuracy, "gsm8k", false}};
  return info;
}

inline const RunEnd kDone{RunState::complete, {}};

inline Point folded(const std::vector<HandMadeQuery>& queries, RunInfo info = edge_run(),
                    const RunEnd& end = kDone, std::uint64_t lost = 0) {
  PointFold fold(std::move(info));
  for (const HandMadeQuery& q : queries) tell(q, fold);
  return fold.finish(end, lost);
}

}  // namespace assay::metrics
