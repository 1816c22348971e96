// The "Accuracy:" block of report.txt and of the terminal, from accuracy_results.json; "" when
// nothing was scored. Pure.
#pragma once

#include <string>

#include "base/json.h"

namespace assay::interchange {

// The lines of an entry's "uncertainty" alone, one for each figure: its interval of 95 %.
std::string uncertainty_text(const Json& uncertainty);

// What a workload demands and whether the scores reach it ("quality"); "" for null.
std::string quality_text(const Json& gate);

std::string accuracy_text(const Json& results);

}  // namespace assay::interchange
