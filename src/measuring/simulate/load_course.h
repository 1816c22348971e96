// `assay simulate --load FILE`: the load of a run's config on a modelled system.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "sim/catalogue.h"
#include "simulate/system_words.h"

namespace assay::simulate {

// `file`: a config of `assay run`. Its endpoint is not asked. Returns the exit code.
Result<int> simulate_load(const std::string& file, const SystemWords& system,
                          const sim::Catalogue& catalogue, bool json, const Talk& talk);

}  // namespace assay::simulate
