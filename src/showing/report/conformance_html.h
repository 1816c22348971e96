// The page of `assay conformance`: each load generator's figures beside the truth of its own job.
// Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace assay::report {

// `result`: conformance.json (docs/guide/conformance.md). An Error names the field that it lacks.
Result<std::string> conformance_html(const Json& result);

}  // namespace assay::report
