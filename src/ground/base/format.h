// assay::format and friends: fmt today, std::format when both our compilers have it.
// This header is the only place where a foreign library shows in ours (docs/decisions/0002).
#pragma once

#include <fmt/core.h>

namespace assay {

using fmt::format;
using fmt::format_to;

}  // namespace assay
