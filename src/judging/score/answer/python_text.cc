#include "score/answer/python_text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

constexpr std::size_t kPythonDigitsMax = 4300;
constexpr std::size_t kDigitsMax = 18;

constexpr char32_t kLongS = 0x17F;
constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kDotlessI = 0x131;
constexpr char32_t kKelvin = 0x212A;

bool ascii_letter(char32_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z' && c < 0x80; }

// Decimal digits come in runs of ten that begin with zero; runs may touch.
int digit_value(char32_t c) {
  if (c < 0x80) return static_cast<int>(c - '0');
  char32_t first = c;
  while (python_digit(first - 1)) --first;
  return static_cast<int>((c - first) % 10);
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

// Bytes that are no character are no space: Python reads them as U+FFFD.
bool is_space_character(std::string_view bytes) {
  return valid_utf8(bytes) && python_space(text::decode_at(bytes, 0).value);
}

}  // namespace

Characters characters(std::string_view text) {
  std::string repaired;
  if (!valid_utf8(text)) text = repaired = readable(text);
  Characters out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const text::CodePoint one = text::decode_at(text, at);
    out += one.value;
    at += one.bytes;
  }
  return out;
}

std::string utf8(CharactersView text) {
  std::string out;
  for (const char32_t c : text) text::append_utf8(out, c);
  return out;
}

std::string readable(std::string_view text) {
  return valid_utf8(text) ? std::string(text) : text::replace_invalid_utf8(text);
}

bool python_space(char32_t c) { return (c >= 0x1C && c <= 0x1F) || text::is_space(c); }

bool python_word(char32_t c) {
  if (c < 0x80) return ascii_letter(c) || (c >= '0' && c <= '9') || c == '_';
  using enum text::GeneralCategory;
  constexpr text::CategoryMask kWord = text::bit(lu) | text::bit(ll) | text::bit(lt) |
                                       text::bit(lm) | text::bit(lo) | text::bit(nd) |
                                       text::bit(nl) | text::bit(no);
  return (text::bit(text::category(c)) & kWord) != 0;
}

bool python_digit(char32_t c) {
  if (c < 0x80) return c >= '0' && c <= '9';
  return text::category(c) == text::GeneralCategory::nd;
}

bool python_letter(char32_t c) {
  if (c < 0x80) return ascii_letter(c);
  using enum text::GeneralCategory;
  constexpr text::CategoryMask kLetters =
      text::bit(lu) | text::bit(ll) | text::bit(lt) | text::bit(lm) | text::bit(lo);
  return (text::bit(text::category(c)) & kLetters) != 0;
}

bool python_printable(char32_t c) {
  if (c < 0x80) return c >= ' ' && c < 0x7F;
  using enum text::GeneralCategory;
  constexpr text::CategoryMask kOther = text::bit(cc) | text::bit(cf) | text::bit(cs) |
                                        text::bit(co) | text::bit(cn) | text::bit(zl) |
                                        text::bit(zp) | text::bit(zs);
  return (text::bit(text::category(c)) & kOther) == 0;
}

bool letter_any_case(char32_t c) {
  return ascii_letter(c) || c == kLongS || c == kDottedCapitalI || c == kDotlessI || c == kKelvin;
}

bool same_letter(char32_t c, char lowered) {
  if (ascii_letter(c)) return static_cast<char>(c | 0x20) == lowered;
  if (lowered == 's') return c == kLongS;
  if (lowered == 'i') return c == kDottedCapitalI || c == kDotlessI;
  return lowered == 'k' && c == kKelvin;
}

CharactersView python_strip(CharactersView text) {
  while (!text.empty() && python_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && python_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view python_strip(std::string_view text) {
  while (!text.empty()) {
    std::size_t bytes = 1;
    const bool longer = static_cast<unsigned char>(text.front()) >= 0xC0;
    while (longer && bytes < text.size() && bytes < 4 && is_continuation(text[bytes])) ++bytes;
    if (!is_space_character(text.substr(0, bytes))) break;
    text.remove_prefix(bytes);
  }
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && text.size() - last < 4 && is_continuation(text[last])) --last;
    if (!is_space_character(text.substr(last))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

std::optional<std::int64_t> python_int(std::string_view text) {
  const Characters all = characters(text);
  CharactersView left = python_strip(all);
  const bool minus = left.starts_with(U'-');
  if (minus || left.starts_with(U'+')) left.remove_prefix(1);
  std::int64_t value = 0;
  std::size_t digits = 0;
  std::size_t counted = 0;
  bool digit_before = false;
  for (const char32_t c : left) {
    if (c == U'_' && digit_before) {
      digit_before = false;
      continue;
    }
    if (!python_digit(c) || ++digits > kPythonDigitsMax) return std::nullopt;
    const int digit = digit_value(c);
    if ((counted > 0 || digit > 0) && ++counted > kDigitsMax) return std::nullopt;
    value = value * 10 + digit;
    digit_before = true;
  }
  if (!digit_before) return std::nullopt;
  return minus ? -value : value;
}

std::optional<double> python_float(std::string_view text) {
  const Characters all = characters(text);
  const CharactersView stripped = python_strip(all);
  std::string plain;
  for (std::size_t at = 0; at < stripped.size(); ++at) {
    const char32_t c = stripped[at];
    if (c == U'_') {
      const bool between = at > 0 && python_digit(stripped[at - 1]) && at + 1 < stripped.size() &&
                           python_digit(stripped[at + 1]);
      if (!between) return std::nullopt;
      continue;
    }
    if (python_digit(c)) {
      plain += static_cast<char>('0' + digit_value(c));
    } else if (c < 0x80 && c != U'(') {
      plain += static_cast<char>(c);
    } else {
      return std::nullopt;
    }
  }
  std::string_view left = plain;
  if (left.starts_with('+')) left.remove_prefix(1);
  if (left.starts_with('-') && left.size() < plain.size()) return std::nullopt;
  double out = 0;
  const auto [end, error] = std::from_chars(left.data(), left.data() + left.size(), out);
  if (end != left.data() + left.size() || error == std::errc::invalid_argument) return std::nullopt;
  // Too large or too small for a double: infinity or zero, as in the C library.
  return error == std::errc() ? out : std::strtod(std::string(left).c_str(), nullptr);
}

bool Scan::word(std::string_view lowered) {
  if (text_.size() - std::min(at_, text_.size()) < lowered.size()) return false;
  for (std::size_t i = 0; i < lowered.size(); ++i) {
    if (!same_letter(text_[at_ + i], lowered[i])) return false;
  }
  at_ += lowered.size();
  return true;
}

bool Scan::exactly(std::string_view ascii) {
  if (text_.size() - std::min(at_, text_.size()) < ascii.size()) return false;
  for (std::size_t i = 0; i < ascii.size(); ++i) {
    if (text_[at_ + i] != static_cast<char32_t>(ascii[i])) return false;
  }
  at_ += ascii.size();
  return true;
}

bool Scan::one_of(CharactersView wanted) {
  if (at_end() || wanted.find(text_[at_]) == CharactersView::npos) return false;
  ++at_;
  return true;
}

void Scan::spaces() {
  while (!at_end() && python_space(text_[at_])) ++at_;
}

std::size_t Scan::digits() {
  const std::size_t begin = at_;
  while (!at_end() && python_digit(text_[at_])) ++at_;
  return at_ - begin;
}

bool Scan::wrapper() {
  const char32_t mark = peek();
  if (mark != U'*' && mark != U'_') return false;
  ++at_;
  if (peek() == mark) ++at_;
  return true;
}

bool Scan::at_word_edge() const { return word_edge(text_, at_); }

bool word_edge(CharactersView text, std::size_t at) {
  const bool before = at > 0 && python_word(text[at - 1]);
  const bool after = at < text.size() && python_word(text[at]);
  return before != after;
}

}  // namespace assay::score
