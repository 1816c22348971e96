// compare_repeats: is B worse than A, where A, B or both were run several times? The uncertainty is
// that between equal runs (compare/noise.h): of A's, of B's, and of runs that were made to learn
// it.
//
// Pure, except for the seed in the options; any thread.
#pragma once

#include <vector>

#include "base/time.h"
#include "compare/compare.h"
#include "compare/noise.h"

namespace assay::compare {

// Several runs of one thing.
struct Repeats {
  std::string name{};
  std::vector<RunFigures> runs{};
  std::vector<WallTime> started{};  // of each run
};

// The figures of a Comparison are geometric means. `noise` may have no runs.
// REQUIRES: A and B have a run each, and two of all are repeats of one thing.
void compare_repeats(const Repeats& a, const Repeats& b, const Repeats& noise,
                     const CompareOptions& options, Comparison& out);

}  // namespace assay::compare
