// BLAKE2b (RFC 7693) without a key and with a digest of any length. The reference client salts
// conversations with the two-byte digest, which is no prefix of a longer one. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace assay {

// Lower-case hex, two digits a byte. REQUIRES: 1 <= digest_bytes <= 64.
std::string blake2b_hex(std::string_view bytes, std::size_t digest_bytes);

}  // namespace assay
