#include "score/answer/lettered.h"

namespace assay::score {
namespace {

// Matches "ANSWER: X" at `at`; no ASCII letter may follow X.
std::string named_at(CharactersView text, std::size_t at, char last) {
  Scan scan(text, at);
  if (!scan.at_word_edge()) return {};
  if (scan.word("final")) scan.spaces();
  if (!scan.word("answer") || !scan.at_word_edge()) return {};
  scan.spaces();
  scan.one_of(U":=");
  scan.spaces();
  scan.one_of(U"(");
  scan.spaces();
  const std::string found = letter_at(scan, last);
  return scan.at_end() || !letter_any_case(scan.peek()) ? found : std::string();
}

std::string last_named(CharactersView text, char last) {
  for (std::size_t at = text.size(); at-- > 0;) {
    if (!same_letter(text[at], 'a') && !same_letter(text[at], 'f')) continue;
    std::string found = named_at(text, at, last);
    if (!found.empty()) return found;
  }
  return {};
}

std::string last_alone(CharactersView text, char last) {
  for (std::size_t at = text.size(); at-- > 0;) {
    Scan scan(text, at);
    if (!scan.at_word_edge()) continue;
    std::string found = letter_at(scan, last);
    if (!found.empty() && scan.at_word_edge()) return found;
  }
  return {};
}

}  // namespace

std::string letter_at(Scan& scan, char last) {
  const char32_t c = scan.peek();
  if (!letter_any_case(c)) return {};
  for (char letter = 'A'; letter <= last; ++letter) {
    if (!same_letter(c, static_cast<char>(letter | 0x20))) continue;
    scan.one_of(CharactersView(&c, 1));
    constexpr char32_t kDottedCapitalI = 0x130;
    return c == kDottedCapitalI ? utf8(CharactersView(&c, 1)) : std::string(1, letter);
  }
  return {};
}

CharactersView without_list(CharactersView text) {
  const bool opens = text.starts_with(U"['") || text.starts_with(U"[\"");
  const bool closes = text.ends_with(U"']") || text.ends_with(U"\"]");
  if (!opens || !closes) return text;
  return text.size() < 4 ? CharactersView() : python_strip(text.substr(2, text.size() - 4));
}

Characters without_escapes(CharactersView text) {
  Characters out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char32_t next = at + 1 < text.size() ? text[at + 1] : U'\0';
    const bool escape = text[at] == U'\\' && (next == U'n' || next == U'\'');
    out += !escape ? text[at] : next == U'n' ? U'\n' : U'\'';
    at += escape ? 1 : 0;
  }
  return out;
}

Extraction named_letter(CharactersView text, char last, CharactersView alone) {
  std::string found = last_named(text, last);
  if (!found.empty()) return {std::move(found), "last_answer"};
  if (last == 'J') found = last_alone(alone, last);
  if (!found.empty()) return {std::move(found), "last_letter_alone"};
  return {};
}

}  // namespace assay::score
