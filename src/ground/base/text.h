// Small text tools: formatting for people and parsing of what people type. Pure; any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace assay {

std::string_view trim(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
std::string lower(std::string_view text);

// "did you mean": the candidate nearest to `word` (Damerau-Levenshtein), or "" when none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

// Fails unless the whole text is a number.
Result<std::int64_t> parse_int(std::string_view text);
Result<std::uint64_t> parse_uint(std::string_view text);
Result<double> parse_double(std::string_view text);
// "250us", "50ms", "10s", "1.5m", "2h"; a bare number counts `bare_unit`.
Result<Duration> parse_duration(std::string_view text, Duration bare_unit);

// All output uses these formatters (ux.md, principle 3).
// 1234567 -> 1,234,567
std::string with_thousands(std::int64_t value);
// counted(2, "reply", "replies") is "2 replies", of one "1 reply"; without `many`, the noun and an
// s.
std::string counted_text(std::int64_t count, std::string_view noun, std::string_view many);
template <std::integral Count>
std::string counted(Count count, std::string_view noun, std::string_view many = {}) {
  return counted_text(static_cast<std::int64_t>(count), noun, many);
}
std::string count_text(std::uint64_t count);  // likewise
std::string p_text(double p);                 // "p = 0.0312"; below 0.0001 "p < 0.0001"
// Three significant digits, thousands separated: 9,932 · 46.9 · 0.513
std::string three_digits(double value);
// 412 ms · 1.21 s · 18.9 ms · 85.0 µs; never 0.00981 s
std::string human_duration(Duration value);
std::string human_bytes(std::uint64_t bytes);

// 0 to 15, or −1 when it is no hexadecimal digit.
constexpr int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// An id that may come from outside and becomes part of a path, a URL or a page: 1 to 128 ASCII
// letters, digits, dots, hyphens and underscores, a letter or digit first, no two dots in a row.
// kPlainId describes it in words.
bool is_plain_id(std::string_view text);
inline constexpr std::string_view kPlainId =
    "1 to 128 of the letters A to Z and a to z, digits, '.', '-' and '_', a letter or digit first, "
    "without '..'";

// `text` if it is a plain id; else an id made from it: forbidden characters become hyphens, and a
// part of the text's hash keeps ids of different texts apart.
std::string plain_id_from(std::string_view text);

// True when the bytes are valid UTF-8 (no surrogates, no overlong forms).
bool valid_utf8(std::string_view text);
// Code points of valid UTF-8.
std::size_t character_count(std::string_view text);

}  // namespace assay
