// The reference client's choice from A to D. Each of its rules searches the whole reply; the first
// rule that finds a letter decides. Two of its rules, for letters in a command in a box, can only
// find what the rule for boxes already found; they are left out.
#include <array>

#include "score/answer/extract.h"
#include "score/answer/python_text.h"

namespace assay::score {
namespace {

constexpr char kNone = '\0';

bool ascii_alnum(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}
bool alnum_before(CharactersView text, std::size_t at) {
  return at > 0 && ascii_alnum(text[at - 1]);
}
bool alnum_at(CharactersView text, std::size_t at) {
  return at < text.size() && ascii_alnum(text[at]);
}

char capital(Scan& scan) {
  const char32_t c = scan.peek();
  return scan.one_of(U"ABCD") ? static_cast<char>(c) : kNone;
}
char any_case(Scan& scan) {
  const char32_t c = scan.peek();
  return scan.one_of(U"ABCDabcd") ? static_cast<char>(c & ~char32_t{0x20}) : kNone;
}
char any_case_word(Scan& scan) {
  const char found = any_case(scan);
  return scan.at_word_edge() ? found : kNone;
}

// Matches two marks, or one that no letter or digit follows.
bool closes(CharactersView text, std::size_t at) {
  if (at >= text.size() || (text[at] != U'*' && text[at] != U'_')) return false;
  if (at + 1 < text.size() && text[at + 1] == text[at]) return true;
  return !alnum_at(text, at + 1);
}

// Skips what may be between "Answer" and its letter.
void separator(Scan& scan) {
  scan.spaces();
  scan.one_of(U":-\u2013");
  scan.spaces();
}

// Matches *Answer* D, **Answers:** D
char marked_answer(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.wrapper() || !scan.word("answer")) return kNone;
  scan.word("s");
  scan.spaces();
  scan.one_of(U":-\u2013");
  if (!scan.wrapper()) return kNone;
  scan.spaces();
  return any_case_word(scan);
}

// Matches a line that begins with "Answer", with or without marks. The letter may begin a word.
char line_answer(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  scan.wrapper();
  if (!scan.word("answer")) return kNone;
  scan.one_of(U":");
  scan.wrapper();
  scan.spaces();
  scan.one_of(U":");
  scan.spaces();
  scan.wrapper();
  return any_case(scan);
}

bool answer_word(Scan& scan) {
  if (!scan.at_word_edge() || !scan.word("answer")) return false;
  scan.word("s");
  return scan.at_word_edge();
}

// Matches Answer: (C)
char bracketed_answer(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  if (!answer_word(scan)) return kNone;
  separator(scan);
  if (!scan.one_of(U"(")) return kNone;
  scan.spaces();
  const char found = any_case(scan);
  scan.spaces();
  return scan.one_of(U")") ? found : kNone;
}

// Matches Answer: C
char plain_answer(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  if (!answer_word(scan)) return kNone;
  separator(scan);
  return any_case_word(scan);
}

// Matches Option C
char option(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  if (!scan.at_word_edge() || (!scan.word("option") && !scan.word("choice"))) return kNone;
  if (!scan.at_word_edge()) return kNone;
  separator(scan);
  return any_case_word(scan);
}

// Matches (C), [C]
char bracketed(CharactersView text, std::size_t at) {
  if (alnum_before(text, at)) return kNone;
  Scan scan(text, at);
  if (!scan.one_of(U"([")) return kNone;
  scan.spaces();
  const char found = capital(scan);
  scan.spaces();
  return scan.one_of(U")]") && !alnum_at(text, scan.at()) ? found : kNone;
}

// Matches **C**
char marked(CharactersView text, std::size_t at) {
  if (alnum_before(text, at)) return kNone;
  Scan scan(text, at);
  if (!scan.wrapper()) return kNone;
  const char found = capital(scan);
  return found != kNone && closes(text, scan.at()) ? found : kNone;
}

// Matches **C) the third**
char marked_with_text(CharactersView text, std::size_t at) {
  if (alnum_before(text, at)) return kNone;
  Scan scan(text, at);
  if (!scan.wrapper()) return kNone;
  scan.spaces();
  const char found = capital(scan);
  if (found == kNone || !scan.one_of(U")")) return kNone;
  const std::size_t end = text.find_first_of(U"*_\n", scan.at());
  return end != CharactersView::npos && end > scan.at() && closes(text, end) ? found : kNone;
}

// Matches a line that begins with a capital from A to D, whatever follows.
char line_letter(CharactersView text, std::size_t at) {
  Scan scan(text, at);
  scan.wrapper();
  return capital(scan);
}

using Rule = char (*)(CharactersView text, std::size_t at);

char anywhere(CharactersView text, Rule rule) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char found = rule(text, at);
    if (found != kNone) return found;
  }
  return kNone;
}

// Tries the rule at the first character of each line; a blank line belongs to the next one.
char at_lines(CharactersView text, Rule rule) {
  for (std::size_t line = 0; line < text.size();) {
    Scan scan(text, line);
    scan.spaces();
    const char found = rule(text, scan.at());
    if (found != kNone) return found;
    const std::size_t end = text.find(U'\n', scan.at());
    if (end == CharactersView::npos) break;
    line = end + 1;
  }
  return kNone;
}

// Finds the first capital from A to D between a command's brace and the next closing one.
char in_braces(CharactersView text, CharactersView command) {
  for (std::size_t at = text.find(command); at != CharactersView::npos;) {
    const std::size_t begin = at + command.size();
    const std::size_t close = text.find(U'}', begin);
    if (close == CharactersView::npos) return kNone;
    const std::size_t letter = text.find_first_of(U"ABCD", begin);
    if (letter < close) return static_cast<char>(text[letter]);
    at = text.find(command, close);
  }
  return kNone;
}

char box(CharactersView text, Rule) { return in_braces(text, U"\\boxed{"); }
char bold(CharactersView text, Rule) { return in_braces(text, U"\\textbf{"); }

struct Way {
  std::string_view name{};
  char (*search)(CharactersView text, Rule rule) = nullptr;
  Rule rule = nullptr;
};
constexpr std::array<Way, 11> kWays = {{
    {"marked_answer", anywhere, marked_answer},
    {"line_answer", at_lines, line_answer},
    {"bracketed_answer", anywhere, bracketed_answer},
    {"plain_answer", anywhere, plain_answer},
    {"option", anywhere, option},
    {"box", box, nullptr},
    {"bracketed", anywhere, bracketed},
    {"marked", anywhere, marked},
    {"bold", bold, nullptr},
    {"marked_with_text", anywhere, marked_with_text},
    {"line_letter", at_lines, line_letter},
}};

Extraction chosen_letter(char letter, std::string_view rule) {
  return {"choice" + std::string(1, static_cast<char>(letter - 'A' + '1')), rule};
}

}  // namespace

Extraction extract_abcd(std::string_view reply) {
  const Characters text = characters(reply);
  for (const Way& way : kWays) {
    const char found = way.search(text, way.rule);
    if (found != kNone) return chosen_letter(found, way.name);
  }
  Scan first(text, CharactersView(text).starts_with(U"**") ? 2 : 0);
  const char letter = any_case(first);
  if (letter != kNone) return chosen_letter(letter, "first_character");
  return {std::string(), ""};
}

}  // namespace assay::score
