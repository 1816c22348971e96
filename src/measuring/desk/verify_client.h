// The result of `assay client` in a run's folder, held against the events: it follows from them
// too.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "campaign/verify_run.h"

namespace assay::desk {

// Does nothing where the folder has no such result.
Result<void> verify_client(const std::string& folder, std::vector<campaign::Difference>& out);

}  // namespace assay::desk
