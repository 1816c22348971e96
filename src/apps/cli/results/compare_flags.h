// The flags of `assay compare`, with or without --interleave, for the thresholds and the outputs.
#pragma once

#include "base/flags.h"
#include "base/result.h"
#include "campaign/compare_course.h"
#include "cli/commands.h"

namespace assay::cli {

// `asked` must outlive flags.parse().
void add_compare_flags(Flags& flags, campaign::CompareAsked& asked);
// assay compare --interleave: measures two endpoints in one run, in blocks of queries in random
// order, writes a run folder for each and compares them by pairs of blocks.
Result<int> compare_interleaved(Args args);

}  // namespace assay::cli
