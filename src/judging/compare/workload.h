// Is it the same work? The reasons why two runs may not be compared, in words; empty when they may.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.h"

namespace assay::compare {

std::vector<std::string> workload_differences(const ComparedRun& a, const ComparedRun& b,
                                              const CompareOptions& options);

}  // namespace assay::compare
