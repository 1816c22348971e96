// interleave: a plan for two endpoints that asks both in one run, a block of queries at a time.
//
// Two runs one after the other differ by whatever changed between them: a neighbour, a warmer
// machine. Blocks that alternate share it. The performance phase is cut into pairs of blocks; both
// blocks of a pair ask the same samples, with the same salts and (open loop) the same gaps, one
// endpoint each. Which of the two begins is drawn, and of each two pairs one begins with A and one
// with B, so that a steady drift cancels. A block is drained before the next begins: the endpoints
// never work at once, for they may share a machine.
//
// Pure: chance comes from the seed in the options.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "plan/make_plan.h"

namespace assay::plan {

// Fewer pairs than this say nothing of how far a difference would move by itself.
inline constexpr std::uint64_t kPairsMin = 6;

struct InterleaveOptions {
  std::uint64_t block = 0;  // queries in one; 0: four times the concurrency, and 20 at least
  std::uint64_t seed = 1;
  // Of both endpoints together; 0: as many queries as the plan counts. Closed loop: pairs begin
  // until it is over, six at least, and each is finished. Open loop: so much of the schedule as
  // two endpoints get through in it, one after the other.
  Duration time{};
};

struct Interleaved {
  PlanBundle bundle{};  // phases "warmup a", "warmup b", then "a 1", "b 1", "b 2", "a 2", …
  std::vector<std::uint16_t> endpoint_of_phase{};  // 0: A, 1: B
};
// How long both are measured together where the config says a time and no number; 0: by number.
Duration interleaved_time(const Config& config);
// A warm-up is made for each. An error when the bundle has not two endpoints, or neither
// a number of queries nor a time.
Result<Interleaved> interleave(PlanBundle bundle, const InterleaveOptions& options);

}  // namespace assay::plan
