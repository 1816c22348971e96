// Pairs of blocks: two endpoints that one run measured in turns (plan/interleave.h), compared pair
// by pair.
//
// Both blocks of a pair asked the same, one shortly after the other, so that what slows both does
// not show in their ratio. What is drawn again is therefore pairs, with both their blocks; the
// deviation is that of the ratio itself. Memory longer than a pair is met as in
// compare/bootstrap.h: pairs two and four at a time are tried too, while ten remain, and the
// largest deviation stands.
#pragma once

#include <vector>

#include "compare/bootstrap.h"
#include "compare/query_rows.h"
#include "domain/run_info.h"
#include "metrics/point.h"

namespace assay::compare {

// Whether the two are the A and the B of one interleaved run: facts "interleaved" of their logs.
bool interleaved(const metrics::Point& a, const metrics::Point& b);

// The same ways to cut both sides. What a pair that lacks a side has goes to the pair before.
struct PairedBlocks {
  std::vector<TimeBlocks> a{};  // shortest first; at least one, perhaps of no blocks
  std::vector<TimeBlocks> b{};
};
// REQUIRES: rows ascend by sent.
PairedBlocks paired_blocks(const RunInfo& info, const QueryRows& a, const QueryRows& b);

}  // namespace assay::compare
