// A run compared with the endpoint's truth log: `assay report RUN --truth FILE`.
#pragma once

#include <filesystem>

#include "base/json.h"
#include "base/result.h"

namespace assay::campaign {

// The error of each instant that the run recorded, client minus truth, in ns.
// {"replies", "unmatched", "kernel_stamped", "shares_read",
//  "ttft"|"itl"|"latency"|"token": {"count", "p0_1", "p1", "p50", "p99", "p99_9"}}
Result<Json> errors_against_truth(const std::filesystem::path& run_folder,
                                  const std::filesystem::path& truth_log);

// The same as a table for a person.
std::string truth_text(const Json& errors);

}  // namespace assay::campaign
