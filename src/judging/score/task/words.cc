#include "score/task/words.h"

#include <utility>

#include "score/answer/python_text.h"
#include "text/regex.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

// A place where a sentence is divided: \0 of `with` is the match, \1 to \9 its groups.
struct Division {
  text::Regex pattern;
  std::string with{};
};

std::vector<Division> divisions_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> all) {
  std::vector<Division> out;
  for (const auto& [pattern, with] : all) {
    out.push_back(
        {text::Regex::compile(pattern, text::RegexDialect::python).value(), std::string(with)});
  }
  return out;
}

std::string divided(const Division& how, const std::string& text) {
  text::RegexStack stack;
  stack.begin(text.size());
  std::string out;
  std::size_t kept = 0;
  text::Regex::Match match;
  for (std::size_t at = 0; at <= text.size() && how.pattern.find(text, at, stack, match);) {
    out.append(text, kept, match.begin - kept);
    for (std::size_t i = 0; i < how.with.size(); ++i) {
      if (how.with[i] != '\\') {
        out += how.with[i];
        continue;
      }
      const auto number = static_cast<std::size_t>(how.with[++i] - '0');
      const auto part = number == 0 ? std::optional(match) : how.pattern.group(number, stack);
      if (part) out.append(text, part->begin, part->end - part->begin);
    }
    kept = match.end;
    at = match.end > match.begin ? match.end : match.end + 1;
  }
  return out.append(text, kept);
}

// Quotes that open, marks, brackets and dashes, in this order.
const std::vector<Division>& within_sentence() {
  static const std::vector<Division> all = divisions_of({
      {"([«“‘„]|[`]+)", " \\1 "},
      {"^\"", "``"},
      {"(``)", " \\1 "},
      {"([ \\(\\[{<])(\"|'{2})", "\\1 `` "},
      {"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\\w)\\b", "\\1 \\2"},
      {"([^\\.])(\\.)([\\]\\)}>\"'»”’ ]*)\\s*$", "\\1 \\2 \\3 "},
      {"([:,])([^\\d])", " \\1 \\2"},
      {"([:,])$", " \\1 "},
      {"\\.{2,}", " \\0 "},
      {"[;@#$%&]", " \\0 "},
      {"([^\\.])(\\.)([\\]\\)}>\"']*)\\s*$", "\\1 \\2\\3 "},
      {"[?!]", " \\0 "},
      {"([^'])' ", "\\1 ' "},
      {"[*]", " \\0 "},
      {"[\\]\\[\\(\\)\\{\\}\\<\\>]", " \\0 "},
      {"--", " -- "},
  });
  return all;
}

// Quotes that close and contractions, of a text between spaces.
const std::vector<Division>& at_word_ends() {
  static const std::vector<Division> all = divisions_of({
      {"([»”’])", " \\1 "},
      {"''", " '' "},
      {"\"", " '' "},
      {"\\s+", " "},
      {"([^' ])('[sS]|'[mM]|'[dD]|') ", "\\1 \\2 "},
      {"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", "\\1 \\2 "},
      {"(?i)\\b(can)(not)\\b", " \\1 \\2 "},
      {"(?i)\\b(d)('ye)\\b", " \\1 \\2 "},
      {"(?i)\\b(gim)(me)\\b", " \\1 \\2 "},
      {"(?i)\\b(gon)(na)\\b", " \\1 \\2 "},
      {"(?i)\\b(got)(ta)\\b", " \\1 \\2 "},
      {"(?i)\\b(lem)(me)\\b", " \\1 \\2 "},
      {"(?i)\\b(more)('n)\\b", " \\1 \\2 "},
      {"(?i)\\b(wan)(na)(?=\\s)", " \\1 \\2 "},
      {"(?i) ('t)(is)\\b", " \\1 \\2 "},
      {"(?i) ('t)(was)\\b", " \\1 \\2 "},
  });
  return all;
}

bool has_one_case(std::string_view text, text::GeneralCategory wanted,
                  text::GeneralCategory other) {
  bool any = false;
  for (const char32_t c : characters(text)) {
    const text::GeneralCategory kind = text::category(c);
    if (kind == other || kind == text::GeneralCategory::lt) return false;
    any = any || kind == wanted;
  }
  return any;
}

}  // namespace

std::size_t word_count(std::string_view text) {
  std::size_t words = 0;
  bool within = false;
  for (const char32_t c : characters(text)) {
    const bool word = python_word(c);
    words += word && !within ? 1U : 0U;
    within = word;
  }
  return words;
}

std::vector<std::string> treebank_tokens(std::string_view sentence) {
  std::string text(sentence);
  for (const Division& one : within_sentence()) text = divided(one, text);
  text = " " + text + " ";
  for (const Division& one : at_word_ends()) text = divided(one, text);
  std::vector<std::string> out;
  Characters token;
  for (const char32_t c : characters(text)) {
    if (!python_space(c)) {
      token += c;
    } else if (!token.empty()) {
      out.push_back(utf8(token));
      token.clear();
    }
  }
  if (!token.empty()) out.push_back(utf8(token));
  return out;
}

bool is_upper(std::string_view text) {
  return has_one_case(text, text::GeneralCategory::lu, text::GeneralCategory::ll);
}

bool is_lower(std::string_view text) {
  return has_one_case(text, text::GeneralCategory::ll, text::GeneralCategory::lu);
}

}  // namespace assay::score
