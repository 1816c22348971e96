// Shared by the three rules on coverage of a concurrency region.
#pragma once

#include "rules/rule.h"

namespace assay::rules {

void check_coverage(const Scope& at, Out& out, rulebook::Region region);

}  // namespace assay::rules
