// assay compare --interleave: measures two endpoints in one run, a block of queries at a time in
// drawn order, leaves a run folder of each and compares them pair by pair of blocks.
#pragma once

#include "cli/commands.h"

namespace assay::cli {

Result<int> compare_interleaved(Args args);

}  // namespace assay::cli
