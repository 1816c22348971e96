// Shared by the rules that need one value for a whole curve.
#pragma once

#include "rules/rule.h"

namespace assay::rules {

// Reports an error for each usable point whose value at `pointer` differs from the first point's.
void check_same(const Scope& at, Out& out, std::string_view pointer);

}  // namespace assay::rules
