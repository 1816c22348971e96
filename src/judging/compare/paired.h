// Pairs of blocks: compares two endpoints that one run measured in turns (plan/interleave.h), pair
// by pair.
//
// Both blocks of a pair asked the same, one shortly after the other, so a cause that slows both
// does not show in their ratio. So the bootstrap resamples pairs, with both their blocks, and
// computes the deviation of the ratio itself. For memory longer than a pair, groups of two and four
// pairs are tried too, as in compare/bootstrap.h, while at least ten remain; the largest deviation
// is the result.
#pragma once

#include <vector>

#include "compare/bootstrap.h"
#include "compare/query_rows.h"
#include "domain/run_info.h"
#include "metrics/point.h"

namespace assay::compare {

// True if the two are A and B of one interleaved run: facts "interleaved" of their logs.
bool interleaved(const metrics::Point& a, const metrics::Point& b);

// Cuts both sides in the same ways. If a pair lacks a side, its rows go to the pair before.
struct PairedBlocks {
  std::vector<TimeBlocks> a{};  // shortest first; at least one, possibly without blocks
  std::vector<TimeBlocks> b{};
};
// REQUIRES: rows ascend by sent.
PairedBlocks paired_blocks(const RunInfo& info, const QueryRows& a, const QueryRows& b);

}  // namespace assay::compare
