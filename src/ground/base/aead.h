// Aead: encryption that also proves that nothing was changed: AES-256-GCM (NIST SP 800-38D) with a
// nonce of 96 random bits for each box. For what a folder must not show: sealed prompts and the
// replies to them. A key may seal at most 2^32 boxes. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

struct SealKey {
  std::string bytes{};  // 32
  // 16 hex digits that name the key and say nothing of it.
  std::string id() const;
};

// A key from the system's random source, as the text of a key file:
// "assay-seal-key-1 HEX" and a line's end.
std::string new_seal_key_text();
Result<SealKey> seal_key_from(std::string_view text);
Result<SealKey> read_seal_key(const std::filesystem::path& file);

// nonce, ciphertext and tag. `about` is not in the box, and opening needs the same.
std::string seal_box(const SealKey& key, std::string_view plain, std::string_view about);
// Code::corrupt: another key, another `about`, or a changed byte; nothing of the text is returned.
Result<std::string> open_box(const SealKey& key, std::string_view box, std::string_view about);

}  // namespace assay
