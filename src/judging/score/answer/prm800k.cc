#include "score/answer/prm800k.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "score/answer/expression.h"
#include "score/answer/latex_text.h"
#include "score/answer/python_text.h"
#include "text/unicode.h"

namespace assay::score {
namespace {

bool ascii_digit(char c) { return c >= '0' && c <= '9'; }

void replace_every(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

std::vector<std::string> split_by(std::string_view text, std::string_view by) {
  std::vector<std::string> out;
  for (std::size_t at = text.find(by); at != std::string_view::npos; at = text.find(by)) {
    out.emplace_back(text.substr(0, at));
    text.remove_prefix(at + by.size());
  }
  out.emplace_back(text);
  return out;
}

// The first character, which is not always one byte.
std::string first_of(std::string_view text) {
  return text.empty() ? std::string() : std::string(text.substr(0, text::decode_at(text, 0).bytes));
}

// The content of \text{ … } around all of the text.
std::string_view without_text(std::string_view text) {
  std::string_view inside = text;
  if (inside.ends_with('\n')) inside.remove_suffix(1);
  constexpr std::string_view kOpens = "\\text{";
  if (!inside.starts_with(kOpens) || !inside.ends_with('}')) return text;
  inside = inside.substr(kOpens.size(), inside.size() - kOpens.size() - 1);
  return inside.empty() || inside.find('\n') != std::string_view::npos ? text : inside;
}

// ---- the normal form of LaTeX; nullopt where the grader raises ----------------------------------

std::optional<std::string> with_braces_of_fractions(const std::string& text) {
  const std::vector<std::string> parts = split_by(text, "\\frac");
  std::string out = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::string& part = parts[i];
    if (part.empty()) return std::nullopt;
    out += "\\frac";
    if (part[0] == '{') {
      out += part;
      continue;
    }
    const std::string a = first_of(part);
    const std::string b = first_of(std::string_view(part).substr(a.size()));
    if (b.empty()) return text;
    const std::string_view rest = std::string_view(part).substr(a.size() + b.size());
    out += b == "{" ? format("{{{}}}{}{}", a, b, rest) : format("{{{}}}{{{}}}{}", a, b, rest);
  }
  return out;
}

std::optional<std::string> with_braces_of_roots(const std::string& text) {
  const std::vector<std::string> parts = split_by(text, "\\sqrt");
  std::string out = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty()) return std::nullopt;
    const std::string a = first_of(parts[i]);
    out += a == "{" ? "\\sqrt" + parts[i] : "\\sqrt{" + a + "}" + parts[i].substr(a.size());
  }
  return out;
}

// As Python writes a whole number.
bool is_plain_integer(std::string_view text) {
  if (text == "0") return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text[0] != '0' && text.size() <= 4300 &&
         std::all_of(text.begin(), text.end(), ascii_digit);
}

std::optional<std::string> latex_form(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kFirst = {
      {{"\n", ""},
       {"\\!", ""},
       {"\\\\", "\\"},
       {"tfrac", "frac"},
       {"dfrac", "frac"},
       {"\\left", ""},
       {"\\right", ""},
       {"^{\\circ}", ""},
       {"^\\circ", ""},
       {"\\$", ""}}};
  for (const auto& [from, to] : kFirst) replace_every(text, from, to);
  const std::vector<std::string> units = split_by(text, "\\text{ ");
  if (units.size() > 2) return std::nullopt;
  text = units[0];
  replace_every(text, "\\%", "");
  replace_every(text, " .", " 0.");
  replace_every(text, "{.", "{0.");
  if (text.empty()) return text;
  if (text[0] == '.') text.insert(0, "0");
  const std::vector<std::string> sides = split_by(text, "=");
  if (sides.size() == 2 && characters(sides[0]).size() <= 2) text = sides[1];
  const auto roots = with_braces_of_roots(text);
  if (!roots) return std::nullopt;
  text = *roots;
  std::erase(text, ' ');
  auto fractions = with_braces_of_fractions(text);
  if (!fractions) return std::nullopt;
  text = *std::move(fractions);
  if (text == "0.5") text = "\\frac{1}{2}";
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || text.find('/', slash + 1) != std::string::npos) return text;
  const std::string a = text.substr(0, slash);
  const std::string b = text.substr(slash + 1);
  return is_plain_integer(a) && is_plain_integer(b) ? format("\\frac{{{}}}{{{}}}", a, b) : text;
}

std::string latex_form_or_same(std::string_view answer) {
  const std::string_view inside = python_strip(without_text(python_strip(answer)));
  return latex_form(std::string(inside)).value_or(std::string(inside));
}

// ---- the normal form of plain text
// ----------------------------------------------------------------

bool is_whole(double x) { return std::isfinite(x) && std::abs(x - std::nearbyint(x)) <= 1e-7; }

// Commas between thousands: not those of a tuple. Passes from the left, until none is found.
std::string without_thousands(std::string_view input) {
  Characters text = characters(input);
  const auto digit = [&](std::size_t i) { return i < text.size() && python_digit(text[i]); };
  for (bool changed = true; changed;) {
    changed = false;
    Characters next;
    std::size_t at = 0;
    while (at < text.size()) {
      const bool found = digit(at) && at + 1 < text.size() && text[at + 1] == ',' &&
                         digit(at + 2) && digit(at + 3) && digit(at + 4) && !digit(at + 5);
      if (!found) {
        next += text[at++];
        continue;
      }
      changed = true;
      next += text[at];
      next.append(text, at + 2, 4);  // the digits, and the character after them
      at += 6;
    }
    text = std::move(next);
  }
  return utf8(text);
}

bool is_integer(std::string_view text) {
  const auto value = python_float(without_thousands(text));
  return value && is_whole(*value);
}

// " *" and a power after `word`, which may be in the plural, are removed with it.
void drop_unit(std::string& text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos;) {
    std::size_t end = at + word.size();
    const auto take = [&](std::string_view what) {
      if (std::string_view(text).substr(end).starts_with(what)) end += what.size();
    };
    take("es");
    take("s");
    while (end < text.size() && text[end] == ' ') ++end;
    if (end + 1 < text.size() && text[end] == '^' && ascii_digit(text[end + 1])) {
      ++end;
      while (end < text.size() && ascii_digit(text[end])) ++end;
    }
    text.erase(at, end - at);
  }
}

// `head`, spaces and `tail` together become `to`.
void replace_spaced(std::string& text, std::string_view head, std::string_view tail,
                    std::string_view to) {
  for (std::size_t at = 0; (at = text.find(head, at)) != std::string::npos;) {
    std::size_t end = at + head.size();
    while (end < text.size() && text[end] == ' ') ++end;
    if (!std::string_view(text).substr(end).starts_with(tail)) {
      ++at;
      continue;
    }
    text.replace(at, end + tail.size() - at, to);
    at += to.size();
  }
}

std::optional<std::string> read_latex(std::string text) {
  replace_every(text, "\\tfrac", "\\frac");
  replace_every(text, "\\dfrac", "\\frac");
  replace_every(text, "\\frac", " \\frac");
  auto shown = latex_text(text);
  if (!shown) return std::nullopt;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kSigns = {
      {{"\u221a", "sqrt"},
       {"\u03c0", "pi"},
       {"\u221e", "inf"},
       {"\u222a", "U"},
       {"\u00b7", "*"},
       {"\u00d7", "*"}}};
  for (const auto& [from, to] : kSigns) replace_every(*shown, from, to);
  return std::string(python_strip(std::string_view(*shown)));
}

// 7 3/4 is 7+3/4.
std::string with_mixed_numbers(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t next = at + 1;
    while (next < text.size() && text[next] == ' ') ++next;
    const bool found =
        ascii_digit(text[at]) && next > at + 1 && next < text.size() && ascii_digit(text[next]);
    out += text[at];
    if (!found) {
      ++at;
      continue;
    }
    out += '+';
    out += text[next];
    at = next + 1;
  }
  return out;
}

std::string plain_form(std::string_view input) {
  std::string text(without_text(input));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFirst = {
      {{"\\%", "%"},
       {"\\$", "$"},
       {"$", ""},
       {"%", ""},
       {" or ", " , "},
       {" and ", " , "},
       {"million", "*10^6"},
       {"billion", "*10^9"},
       {"trillion", "*10^12"}}};
  for (const auto& [from, to] : kFirst) replace_every(text, from, to);
  for (const std::string_view unit :
       {"degree", "cm", "centimeter", "meter", "mile", "second", "minute", "hour", "day", "week",
        "month", "year", "foot", "feet", "inch", "yard"}) {
    drop_unit(text, unit);
  }
  replace_spaced(text, "^", "\\circ", "");
  if (text.size() > 1 && text.front() == '{' && text.back() == '}') {
    text = text.substr(1, text.size() - 2);
  }
  for (std::size_t at = 0; (at = text.find(",\\!", at)) != std::string::npos;) {
    std::size_t end = at + 3;
    while (end < text.size() && text[end] == ' ') ++end;
    text.erase(at, end - at);
  }
  if (const auto value = python_float(text); value && is_whole(*value)) {
    text = format("{:.0f}", std::nearbyint(*value) + 0.0);
  }
  if (text.find('\\') != std::string::npos) {
    if (auto read = read_latex(text)) text = *std::move(read);
  }
  replace_spaced(text, "-", "", "-");
  text = with_mixed_numbers(text);
  for (const char c : {' ', '{', '}'}) std::erase(text, c);
  text = text::lower_case(text);
  if (is_integer(text)) {
    std::string bare = text;
    std::erase(bare, ',');
    text = format("{:.0f}", std::trunc(python_float(bare).value_or(0)) + 0.0);
  }
  return text;
}

// ---- the comparison
// -------------------------------------------------------------------------------

bool is_bracket(char c) { return std::string_view("()[]").find(c) != std::string_view::npos; }

std::vector<std::string> tuple_elements(std::string_view input) {
  const std::string text = without_thousands(input);
  if (text.empty()) return {};
  const std::string_view inside =
      std::string_view(text).substr(1, text.size() > 2 ? text.size() - 2 : 0);
  if (text.size() <= 2 || !is_bracket(text.front()) || !is_bracket(text.back()) ||
      std::any_of(inside.begin(), inside.end(), is_bracket)) {
    return {text};
  }
  std::vector<std::string> out;
  for (const std::string& one : split_by(inside, ",")) {
    out.emplace_back(python_strip(std::string_view(one)));
  }
  return out;
}

// Digits, and a / with digits that are not all zero; each may have one more character behind it.
bool is_fraction(std::string_view input) {
  const Characters text = characters(input);
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : U'\0'; };
  const auto digit = [&](std::size_t i) { return at(i) >= '0' && at(i) <= '9'; };
  std::size_t i = at(0) == '-' ? 1 : 0;
  if (!digit(i)) return false;
  while (digit(i)) ++i;
  if (at(i) != '/') {
    if (at(i) == '\n' || at(++i) != '/') return false;
  }
  // "1//2": the first / may also be that one more character.
  if (at(i + 1) == '/') ++i;
  const std::size_t bottom = ++i;
  while (digit(i)) ++i;
  const auto is_zero = [](char32_t c) { return c == '0'; };
  const CharactersView digits = CharactersView(text).substr(bottom, i - bottom);
  if (std::all_of(digits.begin(), digits.end(), is_zero)) return false;
  return i == text.size() || (i + 1 == text.size()) || (i + 2 == text.size() && at(i + 1) == '\n');
}

}  // namespace

bool prm800k_equal(std::string_view raw_answer, std::string_view raw_truth) {
  const std::string answer_text = readable(raw_answer);
  const std::string truth_text = readable(raw_truth);
  if (latex_form_or_same(answer_text) == latex_form_or_same(truth_text)) return true;
  const std::string answer = plain_form(answer_text);
  const std::string truth = plain_form(truth_text);
  if (answer == truth) return true;
  if (answer.empty()) return false;
  const std::vector<std::string> wanted = tuple_elements(truth);
  const std::vector<std::string> given = tuple_elements(answer);
  const bool other_brackets =
      wanted.size() > 1 && (truth.front() != answer.front() || truth.back() != answer.back());
  if (other_brackets || wanted.size() != given.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    bool same = false;
    if (is_fraction(wanted[i]) && is_fraction(given[i])) {
      same = wanted[i] == given[i];
    } else if (is_integer(wanted[i]) == is_integer(given[i])) {
      same = difference_is_zero(wanted[i], given[i]);
    }
    if (!same) return false;
  }
  return true;
}

}  // namespace assay::score
