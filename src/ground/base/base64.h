// Base64 (RFC 4648). Pure. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

// With padding.
std::string encode_base64(std::string_view bytes);
// Accepts text with or without padding. Fails (corrupt) at the first character outside the 64.
Result<std::string> decode_base64(std::string_view text);

}  // namespace assay
