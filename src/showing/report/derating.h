// The ladder of `assay run --derate` (campaign/derating.h) for a person, from derating.json: each
// step's throughput, what it costs, and what is left of the ideal. Pure; any thread.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"

namespace assay::report {

// The file below a folder of such runs.
inline constexpr const char* kDeratingName = "derating.json";

// Each fails for a file that is none; the error names the field.
Result<std::string> derating_text(const Json& result);
Result<std::string> derating_markdown(const Json& result);
Result<std::string> derating_html(const Json& result);

}  // namespace assay::report
