// The flags of `assay simulate` and `assay twin` that describe a system and its load.
#pragma once

#include "base/flags.h"
#include "simulate/system_words.h"

namespace assay::cli {

// `system` must outlive flags.parse().
void add_system_flags(Flags& flags, simulate::SystemWords& system);

}  // namespace assay::cli
