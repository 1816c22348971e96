// The "Accuracy:" block of report.txt and of the terminal, from accuracy_results.json; "" when
// nothing was scored. Pure.
#pragma once

#include <string>

#include "base/json.h"

namespace assay::interchange {

std::string accuracy_text(const Json& results);

}  // namespace assay::interchange
