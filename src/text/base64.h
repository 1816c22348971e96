// Base64 (RFC 4648, with or without padding), as tokenizer files use it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace assay::text {

Result<std::string> decode_base64(std::string_view text);

}  // namespace assay::text
