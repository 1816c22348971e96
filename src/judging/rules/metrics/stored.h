// What the rules on a stored figure and the one that follows from the same file share.
#pragma once

#include <optional>

#include "rules/rule.h"

namespace assay::rules {

// An error when the summary stores a figure at `pointer` that is off the derived one by more than
// the edition's relative tolerance. Silent when either is missing: others say so.
void check_stored(const Scope& at, Out& out, std::string_view pointer,
                  std::optional<double> derived);

}  // namespace assay::rules
