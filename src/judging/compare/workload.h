// Did both runs do the same work? Lists the reasons against a comparison, as sentences; empty:
// none. Pure.
#pragma once

#include <string>
#include <vector>

#include "compare/compare.h"

namespace assay::compare {

std::vector<std::string> workload_differences(const ComparedRun& a, const ComparedRun& b,
                                              const CompareOptions& options);

}  // namespace assay::compare
