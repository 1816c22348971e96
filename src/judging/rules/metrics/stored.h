// Shared by the rules that compare a stored figure with one derived from the same file.
#pragma once

#include <optional>

#include "rules/rule.h"

namespace assay::rules {

// Reports an error when the summary's figure at `pointer` differs from the derived one by more than
// the edition's relative tolerance. Ignores missing values: other rules report them.
void check_stored(const Scope& at, Out& out, std::string_view pointer,
                  std::optional<double> derived);

}  // namespace assay::rules
