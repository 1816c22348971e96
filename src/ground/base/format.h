// assay::format: fmt today, std::format when both our compilers have it. Only this header shows a
// foreign library in a header of ours (docs/decisions/0002).
#pragma once

#include <fmt/core.h>

namespace assay {

using fmt::format;
using fmt::format_to;

}  // namespace assay
