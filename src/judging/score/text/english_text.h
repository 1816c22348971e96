// English text as Whisper's evaluation compares it (Radford et al. 2022, appendix C): without
// brackets' contents, fillers, punctuation or accents; contractions written out; numbers, ordinals
// and money in digits ("ten thousand dollars" is "$10000"); British spellings as American ones, by
// the table that the model's owners publish (normalizer.json), if it is given. Pure.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.h"

namespace assay::score {

// Maps British spellings to American ones.
using Spellings = std::unordered_map<std::string, std::string>;
// Reads a JSON object of texts. An empty path gives an empty table.
Result<Spellings> read_spellings(const std::filesystem::path& file);

// REQUIRES: valid UTF-8.
std::string english_text(std::string_view text, const Spellings& spellings);

// True if a word begins or ends at `at`. REQUIRES: valid UTF-8, `at` at a character or the end.
bool word_edge(std::string_view text, std::size_t at);

// Writes numbers in words as digits; the text has neither capitals nor punctuation.
std::string english_numbers(std::string_view text);

}  // namespace assay::score
