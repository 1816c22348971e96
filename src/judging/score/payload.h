// Payloads: numbers that a system under test returned instead of text. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::score {

// A JSON list of numbers, or base64 of little-endian float32. Empty for an empty text.
Result<std::vector<float>> read_floats(std::string_view text);

}  // namespace assay::score
