#include "score/text/sentences.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace assay::score {
namespace {

constexpr std::array<std::string_view, 34> kAbbreviations = {
    "mr",  "mrs", "ms",  "dr",   "prof", "sr",  "jr",  "st",  "gen", "col", "capt", "lt",
    "sen", "rep", "gov", "rev",  "hon",  "no",  "vs",  "etc", "inc", "ltd", "co",   "corp",
    "jan", "feb", "aug", "sept", "sep",  "oct", "nov", "dec", "e.g", "i.e"};

bool closes_quote(char c) { return c == '"' || c == '\'' || c == ')' || c == ']'; }
bool capital_or_digit(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// Returns the word that ends directly before `at`.
std::string_view word_before(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != '\n' && text[begin - 1] != '(' &&
         text[begin - 1] != '"') {
    --begin;
  }
  return text.substr(begin, at - begin);
}

bool abbreviation(std::string_view word) {
  const bool initial = word.size() == 1 && word[0] >= 'A' && word[0] <= 'Z';
  const bool dotted = word.size() >= 3 && word[1] == '.';  // U.S
  const std::string lowered = lower(word);
  return initial || dotted ||
         std::find(kAbbreviations.begin(), kAbbreviations.end(), lowered) != kAbbreviations.end();
}

}  // namespace

std::string split_sentences(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c != '.' && c != '!' && c != '?') continue;
    std::size_t end = at + 1;
    while (end < text.size() &&
           (closes_quote(text[end]) || text[end] == '.' || text[end] == '!' || text[end] == '?')) {
      ++end;
    }
    std::size_t next = end;
    while (next < text.size() && text[next] == ' ') ++next;
    if (next == end || next >= text.size()) continue;
    const std::size_t opening = text[next] == '"' || text[next] == '(' ? next + 1 : next;
    const bool starts =
        opening < text.size() &&
        (capital_or_digit(text[opening]) || static_cast<unsigned char>(text[opening]) >= 0x80);
    if (!starts || (c == '.' && abbreviation(word_before(text, at)))) continue;
    out.append(text.substr(begin, end - begin));
    out += '\n';
    begin = next;
    at = next - 1;
  }
  out.append(text.substr(begin));
  return out;
}

}  // namespace assay::score
