// Unicode properties for tokenizers, templates and scorers: categories, white space, words, case,
// normal forms, and UTF-8 itself. Values are those of utf8proc (Unicode 15.0 on Debian 12);
// categories and Han are those of 16.0, by which the tokenizer libraries cut (unicode_newer.h).
//
// Categories are in one 1.1 MB table, filled at the first use (about 5 ms). Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::text {

// General categories in utf8proc's order; the value is the bit of a CategoryMask.
enum class GeneralCategory : std::uint8_t {
  cn,
  lu,
  ll,
  lt,
  lm,
  lo,
  mn,
  mc,
  me,
  nd,
  nl,
  no,
  pc,
  pd,
  ps,
  pe,
  pi,
  pf,
  po,
  sm,
  sc,
  sk,
  so,
  zs,
  zl,
  zp,
  cc,
  cf,
  cs,
  co
};
using CategoryMask = std::uint32_t;
constexpr CategoryMask bit(GeneralCategory category) {
  return CategoryMask{1} << static_cast<unsigned>(category);
}

inline constexpr char32_t kCodePoints = 0x110000;
inline constexpr char32_t kReplacement = 0xFFFD;

// REQUIRES: c < kCodePoints, here and below.
GeneralCategory category(char32_t c);
// "L", "Lu", "Letter", "Zs", …; 0 if it is not a category's name.
CategoryMask category_mask(std::string_view name);

// White_Space.
bool is_space(char32_t c);
// \w of Unicode's regex recommendation (Rust): Alphabetic, M, Nd, Pc and Join_Control.
bool is_word(char32_t c);
// \w of Oniguruma: Alphabetic, M, Nd, Pc, and Latin-1's ² ³ ¹ ¼ ½ ¾.
bool is_oniguruma_word(char32_t c);
bool is_han(char32_t c);
// Number: Nd, Nl, No.
bool is_numeric(char32_t c);
// BERT's punctuation: Unicode's P* and all of ASCII's.
bool is_bert_punctuation(char32_t c);

char32_t to_lower(char32_t c);
char32_t to_upper(char32_t c);
// Returns the letter without its case (simple folding).
char32_t fold(char32_t c);

struct CodePoint {
  char32_t value = 0;
  std::uint32_t bytes = 0;
};
// Returns the character at text[at]. REQUIRES: valid UTF-8, at < text.size().
inline CodePoint decode_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[at + k]); };
  const unsigned first = byte(0);
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {((first & 0x1Fu) << 6) | (byte(1) & 0x3Fu), 2};
  if (first < 0xF0) {
    return {((first & 0x0Fu) << 12) | ((byte(1) & 0x3Fu) << 6) | (byte(2) & 0x3Fu), 3};
  }
  return {((first & 0x07u) << 18) | ((byte(1) & 0x3Fu) << 12) | ((byte(2) & 0x3Fu) << 6) |
              (byte(3) & 0x3Fu),
          4};
}
// Returns the start of the character that ends before `at`. REQUIRES: valid UTF-8, at > 0.
inline std::size_t previous(std::string_view text, std::size_t at) {
  do {
    --at;
  } while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}
constexpr std::size_t utf8_length(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}
void append_utf8(std::string& out, char32_t c);

// Replaces each maximal invalid piece by U+FFFD, as Unicode recommends (and Python and Rust do).
std::string replace_invalid_utf8(std::string_view bytes);
// Returns how many bytes at the end of `bytes` may begin an incomplete character (0 to 3).
std::size_t incomplete_tail(std::string_view bytes);

enum class NormalForm : std::uint8_t { nfc, nfd, nfkc, nfkd };
// REQUIRES: valid UTF-8. Text of more than 1 GiB is returned unchanged.
std::string normalize(std::string_view text, NormalForm form);
// Full lower case (İ becomes two code points), like Python's and Rust's.
std::string lower_case(std::string_view text);
// The same letter by letter: a final sigma has no special form, as in tokenizers.
std::string lower_case_each(std::string_view text);
std::string upper_case(std::string_view text);

}  // namespace assay::text
