// What peers need to send a chat, made here because nothing can be fetched: prompts, and a
// tokenizer in the hub's form with one token for each byte.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace assay::conformance {

// JSON lines {"prompt": …, "text": …}, all different.
std::string prompt_lines(std::uint32_t count);
// tokenizer.json: byte-level BPE without merges.
std::string tokenizer_json();

// Writes prompts.jsonl and tokenizer/ into `folder`.
Result<void> write_material(const std::filesystem::path& folder, std::uint32_t prompts);

}  // namespace assay::conformance
