// Payloads: numbers from a system under test instead of text. Pure; any thread.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay::score {

// Reads a JSON list of numbers, or base64 of little-endian float32. An empty text gives none.
Result<std::vector<float>> read_floats(std::string_view text);

}  // namespace assay::score
