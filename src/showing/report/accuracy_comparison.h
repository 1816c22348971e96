// Two runs' scores, compared in pairs, as sentences for a terminal. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "compare/accuracy.h"

namespace assay::report {

// `a`, `b`: the runs' names. Two lines for each figure: the verdict, and what it rests on.
std::string accuracy_comparison_text(const compare::AccuracyComparisons& comparison,
                                     std::string_view a, std::string_view b,
                                     const compare::AccuracyOptions& options);

}  // namespace assay::report
