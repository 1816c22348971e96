// Text as Python's str and re see it. The suites' evaluators are Python programs; the same verdict
// needs the same white space, words, digits and letters: U+202F is white space, é continues a word,
// ٣ is a digit, and ſ matches s in a search without case. A position counts characters, not bytes.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::score {

using Characters = std::u32string;
using CharactersView = std::u32string_view;

// Decodes UTF-8; invalid parts become U+FFFD.
Characters characters(std::string_view text);
std::string utf8(CharactersView text);
std::string readable(std::string_view text);  // the same text as valid UTF-8

bool python_space(char32_t c);      // \s
bool python_word(char32_t c);       // \w
bool python_digit(char32_t c);      // \d
bool python_letter(char32_t c);     // str.isalpha
bool python_printable(char32_t c);  // str.isprintable
// An ASCII letter, or another match of [A-Za-z] without case: İ, ı, ſ and the Kelvin sign.
bool letter_any_case(char32_t c);
// True if `c` is the letter `lowered` (a to z) in any case.
bool same_letter(char32_t c, char lowered);

CharactersView python_strip(CharactersView text);
std::string_view python_strip(std::string_view text);
// int(text) of at most 4,300 digits; nullopt if Python raises, or past 18 significant digits.
std::optional<std::int64_t> python_int(std::string_view text);
// float(text); nullopt if Python raises.
std::optional<double> python_float(std::string_view text);

// A position in a text, for patterns that are tried one after the other. Each function moves past
// what it matches; without a match it stays and returns false.
class Scan {
 public:
  Scan(CharactersView text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  // U+0000 past the end; no pattern matches it.
  char32_t peek() const { return at_end() ? U'\0' : text_[at_]; }

  bool word(std::string_view lowered);   // letters a to z, any case
  bool exactly(std::string_view ascii);  // exactly equal
  bool one_of(CharactersView wanted);    // one character of `wanted`
  void spaces();                         // \s*
  std::size_t digits();                  // \d+: the number of digits
  // Takes one or two * or one or two _, as many as there are; returns true if it took any.
  bool wrapper();
  bool at_word_edge() const;  // \b

 private:
  CharactersView text_;
  std::size_t at_;
};

// The same without a Scan.
bool word_edge(CharactersView text, std::size_t at);

}  // namespace assay::score
