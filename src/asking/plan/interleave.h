// interleave: a plan that measures two endpoints in one run, in blocks of queries.
//
// Between two separate runs something may change: a neighbour, a warmer machine. Alternating blocks
// share the change. The performance phase is cut into pairs of blocks. Both blocks of a pair ask
// the same samples, with the same salts and (open loop) the same gaps, one endpoint each. The order
// in a pair is drawn; of each two pairs one begins with A and one with B, so that a steady drift
// cancels. A block is drained before the next begins: the endpoints never work at the same time,
// since they may share a machine.
//
// Pure: all randomness comes from the seed in the options.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "plan/make_plan.h"

namespace assay::plan {

// Least number of pairs that shows how far a difference varies by itself.
inline constexpr std::uint64_t kPairsMin = 6;

struct InterleaveOptions {
  std::uint64_t block = 0;  // queries in a block; 0: four times the concurrency, at least 20
  std::uint64_t seed = 1;
  // Time for both endpoints together; 0: as many queries as the plan counts. Closed loop: pairs
  // begin until it is over, at least six, and each is finished. Open loop: the part of the schedule
  // that two endpoints can do in it, one after the other.
  Duration time{};
};

struct Interleaved {
  PlanBundle bundle{};  // phases "warmup a", "warmup b", then "a 1", "b 1", "b 2", "a 2", …
  std::vector<std::uint16_t> endpoint_of_phase{};  // 0: A, 1: B
};
// Time to measure both, if the config gives a time and no number; 0: by number.
Duration interleaved_time(const Config& config);
// Makes a warm-up for each endpoint. Fails if the bundle has not exactly two endpoints, or has
// neither a number of queries nor a time.
Result<Interleaved> interleave(PlanBundle bundle, const InterleaveOptions& options);

}  // namespace assay::plan
