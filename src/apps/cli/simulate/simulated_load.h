// `assay simulate --load FILE`: the load of a run's config on a modelled system.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/simulate/simulate_words.h"

namespace assay::cli {

// `file`: a config of `assay run`. Its endpoint is not asked.
Result<int> simulate_load(const std::string& file, const SystemFlags& system,
                          const sim::Catalogue& catalogue, bool json);

}  // namespace assay::cli
