// What peers need to send a chat, made here because nothing can be fetched: prompts, and a
// tokenizer in the hub's form that has each token of the endpoint's replies as one token, so that a
// peer which counts tokens itself counts what the endpoint sent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace assay::conformance {

// JSON lines {"prompt": …, "text": …}, all different.
std::string prompt_lines(std::uint32_t count);
// tokenizer.json: a word a token, cut by a regular expression.
std::string tokenizer_json();

// Writes prompts.jsonl and tokenizer/ into `folder`.
Result<void> write_material(const std::filesystem::path& folder, std::uint32_t prompts);

}  // namespace assay::conformance
