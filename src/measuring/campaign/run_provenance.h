// The chain from a run's result to its data, and what a Croissant file says of where that comes
// from.
#pragma once

#include <string>

#include "base/result.h"
#include "base/talk.h"

namespace assay::campaign {

// `path`: a run's folder, or a Croissant file. As text, or as a PROV-O graph (JSON-LD). Returns the
// exit code.
Result<int> print_provenance(const std::string& path, bool json, const Talk& talk);

}  // namespace assay::campaign
