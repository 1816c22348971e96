// Text as Python's str and re see it. The suites' evaluators are Python programs, and a verdict is
// theirs only when white space, words, digits and letters are: U+202F is white space, é goes on a
// word, ٣ is a digit, and ſ is an s to a search that ignores case. A position is a character's, not
// a byte's. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace assay::score {

using Characters = std::u32string;
using CharactersView = std::u32string_view;

// What is no UTF-8 becomes U+FFFD.
Characters characters(std::string_view text);
std::string utf8(CharactersView text);
std::string readable(std::string_view text);  // the same text, valid

bool python_space(char32_t c);  // \s
bool python_word(char32_t c);   // \w
bool python_digit(char32_t c);  // \d
// An ASCII letter, or what [A-Za-z] takes besides when case is ignored: İ, ı, ſ and the Kelvin
// sign.
bool letter_any_case(char32_t c);
// Whether `c` is the letter `lowered` (a to z) when case is ignored.
bool same_letter(char32_t c, char lowered);

CharactersView python_strip(CharactersView text);
std::string_view python_strip(std::string_view text);
// int(text) of at most 4,300 digits; nothing where Python raises, or past 18 digits that count.
std::optional<std::int64_t> python_int(std::string_view text);
// float(text); nothing where Python raises.
std::optional<double> python_float(std::string_view text);

// A place in a text, for patterns that are tried one after the other. Each taker goes on past what
// it wants, or stays where it is and says false.
class Scan {
 public:
  Scan(CharactersView text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }
  bool at_end() const { return at_ >= text_.size(); }
  // U+0000 past the end, which no pattern asks for.
  char32_t peek() const { return at_end() ? U'\0' : text_[at_]; }

  bool word(std::string_view lowered);   // letters a to z, case ignored
  bool exactly(std::string_view ascii);  // to the letter
  bool one_of(CharactersView wanted);    // one character of `wanted`
  void spaces();                         // \s*
  std::size_t digits();                  // \d+: how many
  // One or two * or one or two _, as many as there are; true when it took any.
  bool wrapper();
  bool at_word_edge() const;  // \b

 private:
  CharactersView text_;
  std::size_t at_;
};

// The same at a place that is no Scan's.
bool word_edge(CharactersView text, std::size_t at);

}  // namespace assay::score
