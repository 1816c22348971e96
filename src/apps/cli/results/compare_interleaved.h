// assay compare --interleave: measures two endpoints in one run, in blocks of queries in random
// order, writes a run folder for each and compares them by pairs of blocks.
#pragma once

#include "cli/commands.h"

namespace assay::cli {

Result<int> compare_interleaved(Args args);

}  // namespace assay::cli
