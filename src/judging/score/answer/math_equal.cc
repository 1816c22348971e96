#include "score/answer/math_equal.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/text.h"

namespace assay::score {
namespace {

constexpr int kTermDepthMax = 60;
constexpr std::size_t kBytesMax = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// Removes the command of \text{ … } and its like; at the end of the text also its content (units).
void drop_text_commands(std::string& text) {
  for (const std::string_view command :
       {"\\text{", "\\mbox{", "\\mathrm{", "\\textbf{", "\\mathbf{", "\\textit{"}) {
    for (std::size_t at = text.find(command); at != std::string::npos; at = text.find(command)) {
      const std::size_t close = text.find('}', at);
      if (close == std::string::npos) return;
      const std::string inside = text.substr(at + command.size(), close - at - command.size());
      const bool unit = close + 1 == text.size() && at > 0 && !inside.empty() &&
                        (is_digit(text[at - 1]) || text[at - 1] == '}' || text[at - 1] == ' ');
      text.replace(at, close + 1 - at, unit ? "" : inside);
    }
  }
}

// Adds braces to \frac12 and \frac1{2}; a/b of two whole numbers becomes \frac{a}{b}.
void brace_arguments(std::string& text, std::string_view command, int arguments) {
  for (std::size_t at = text.find(command); at != std::string::npos;
       at = text.find(command, at + 1)) {
    std::size_t next = at + command.size();
    for (int k = 0; k < arguments && next < text.size(); ++k) {
      if (text[next] == '[') return;
      if (text[next] != '{') {
        if (text[next] == '\\' || is_letter(text[next - 1]) != (k == 0)) {
          if (text[next] == '\\') break;
        }
        text.insert(next + 1, "}");
        text.insert(next, "{");
        next += 3;
        continue;
      }
      int depth = 0;
      for (; next < text.size(); ++next) {
        depth += text[next] == '{' ? 1 : text[next] == '}' ? -1 : 0;
        if (depth == 0) break;
      }
      ++next;
    }
  }
}

std::vector<std::string> elements(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

// Parses the result of normalize_latex by recursive descent.
class NumberEvaluation {
 public:
  NumberEvaluation(std::string_view text, std::optional<double> x) : text_(text), x_(x) {}

  std::optional<double> run() {
    const double value = sum();
    if (bad_ || at_ != text_.size() || !std::isfinite(value)) return std::nullopt;
    return value;
  }

 private:
  bool take(std::string_view what) {
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  double fail() {
    bad_ = true;
    at_ = text_.size();
    return 0;
  }

  double sum() {
    if (++depth_ > kTermDepthMax) return fail();
    double value = product();
    for (;;) {
      if (take("+")) {
        value += product();
      } else if (take("-")) {
        value -= product();
      } else {
        --depth_;
        return value;
      }
    }
  }

  double product() {
    double value = power();
    for (;;) {
      if (take("*") || take("\\cdot") || take("\\times")) {
        value *= power();
      } else if (take("/") || take("\\div")) {
        value /= power();
      } else if (starts_factor()) {
        value *= power();  // 2x, 3\sqrt{2}, 2(3+1)
      } else {
        return value;
      }
    }
  }

  bool starts_factor() const {
    const char c = peek();
    if (c == '\\') {
      const std::string_view rest = text_.substr(at_);
      return rest.starts_with("\\frac") || rest.starts_with("\\sqrt") || rest.starts_with("\\pi");
    }
    return c == '(' || c == '{' || is_letter(c) ||
           (is_digit(c) && at_ > 0 && text_[at_ - 1] == '}');
  }

  double power() {
    const bool minus = take("-");
    if (!minus) take("+");
    double value = atom();
    if (take("^")) {
      if (++depth_ > kTermDepthMax) return fail();
      value = std::pow(value, peek() == '-' ? (take("-"), -atom()) : atom());
      --depth_;
    }
    if (take("!")) value = std::tgamma(value + 1);
    return minus ? -value : value;
  }

  double group(char close) {
    const double value = sum();
    if (peek() != close) return fail();
    ++at_;
    return value;
  }

  double braced() { return take("{") ? group('}') : fail(); }

  double atom() {
    if (bad_) return 0;
    if (take("\\frac")) {
      const double top = braced();
      return top / braced();
    }
    if (take("\\sqrt")) {
      double root = 2;
      if (take("[")) root = group(']');
      return std::pow(braced(), 1 / root);
    }
    if (take("\\pi")) return M_PI;
    if (take("(")) return group(')');
    if (take("{")) return group('}');
    if (is_letter(peek())) {
      const char c = text_[at_++];
      if (is_letter(peek())) return fail();  // a word is not a product of variables
      if (c == 'e' && !x_) return M_E;
      return x_ ? *x_ + 0.37 * (c - 'a') : fail();
    }
    const std::size_t begin = at_;
    while (is_digit(peek()) || peek() == '.') ++at_;
    if (at_ == begin) return fail();
    return parse_double(text_.substr(begin, at_ - begin)).value_or(std::nan(""));
  }

  std::string_view text_;
  std::optional<double> x_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool bad_ = false;
};

bool close(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

// Two numbers in lowest terms, or two whole ones, are the same only with the same spelling; so
// evaluation cannot add anything.
bool element_equal(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto left = evaluate_latex(a);
  const auto right = evaluate_latex(b);
  if (left && right) return close(*left, *right);
  if (left.has_value() != right.has_value()) return false;
  bool any = false;
  for (const double x : {0.613, 1.871, 2.377, 3.219}) {
    const auto at_a = evaluate_latex(a, x);
    const auto at_b = evaluate_latex(b, x);
    if (at_a.has_value() != at_b.has_value()) return false;
    if (!at_a) continue;
    if (!close(*at_a, *at_b)) return false;
    any = true;
  }
  return any;
}

bool bracket(char c, bool opens) { return opens ? c == '(' || c == '[' : c == ')' || c == ']'; }

// Joins 1,234,567 to one number, unless it is in a list.
void join_thousands(std::string& text) {
  for (std::size_t at = text.find(','); at != std::string::npos; at = text.find(',', at + 1)) {
    const auto digits = [&](std::size_t from, std::size_t n) {
      if (from + n > text.size()) return false;
      return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(from),
                         text.begin() + static_cast<std::ptrdiff_t>(from + n), is_digit);
    };
    const bool thousands = at > 0 && is_digit(text[at - 1]) && digits(at + 1, 3) &&
                           (at + 4 >= text.size() || !is_digit(text[at + 4]));
    const bool listed = !text.empty() && bracket(text.front(), true);
    if (thousands && !listed) text.erase(at--, 1);
  }
}

}  // namespace

std::string normalize_latex(std::string_view input) {
  std::string text(trim(input.substr(0, kBytesMax)));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 32> kEven = {{
      {"\n", ""},
      {"\\!", ""},
      {"\\,", ""},
      {"\\;", ""},
      {"\\:", ""},
      {"\\ ", ""},
      {"\\quad", ""},
      {"\\\\", "\\"},
      {"tfrac", "frac"},
      {"dfrac", "frac"},
      {"cfrac", "frac"},
      {"\\left", ""},
      {"\\right", ""},
      {"\\big", ""},
      {"\\Big", ""},
      {"^{\\circ}", ""},
      {"^\\circ", ""},
      {"\\degree", ""},
      {"\\$", ""},
      {"$", ""},
      {"\\%", ""},
      {"%", ""},
      {"\\cup", "U"},
      {"\\infty", "infinity"},
      {"\\lbrace", "{"},
      {"\\rbrace", "}"},
      {"\\{", "{"},
      {"\\}", "}"},
      {"\xE2\x88\x92", "-"},
      {"\xCF\x80", "\\pi"},
      {"\xE2\x88\x9E", "infinity"},
      {"\xC2\xB0", ""},
  }};
  for (const auto& [from, to] : kEven) replace_all(text, from, to);
  drop_text_commands(text);
  while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
  // "x = 3" means 3, but "x + y = 3" is an equation.
  if (const std::size_t equals = text.find('='); equals != std::string::npos) {
    const std::string_view left = trim(std::string_view(text).substr(0, equals));
    if (left.size() <= 2 && text.find('=', equals + 1) == std::string::npos) {
      text = std::string(trim(std::string_view(text).substr(equals + 1)));
    }
  }
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  join_thousands(text);
  if (text.starts_with(".")) text.insert(0, "0");
  replace_all(text, "{.", "{0.");
  brace_arguments(text, "\\frac", 2);
  brace_arguments(text, "\\sqrt", 1);
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos && slash > 0) {
    const auto top = parse_int(std::string_view(text).substr(0, slash));
    const auto bottom = parse_int(std::string_view(text).substr(slash + 1));
    if (top && bottom) {
      text = "\\frac{" + std::to_string(*top) + "}{" + std::to_string(*bottom) + "}";
    }
  }
  return text;
}

std::optional<double> evaluate_latex(std::string_view text, std::optional<double> x) {
  if (text.empty() || text.size() > kBytesMax) return std::nullopt;
  return NumberEvaluation(text, x).run();
}

bool math_equal(std::string_view answer, std::string_view truth) {
  if (trim(answer).empty()) return false;
  if (trim(answer) == trim(truth)) return true;
  const std::string a = normalize_latex(answer);
  const std::string b = normalize_latex(truth);
  if (a == b) return true;
  if (a.empty() || b.empty()) return false;
  const bool list_a = a.size() > 1 && bracket(a.front(), true) && bracket(a.back(), false);
  const bool list_b = b.size() > 1 && bracket(b.front(), true) && bracket(b.back(), false);
  if (list_a && list_b) {
    if (a.front() != b.front() || a.back() != b.back()) return false;
    const auto left = elements(std::string_view(a).substr(1, a.size() - 2));
    const auto right = elements(std::string_view(b).substr(1, b.size() - 2));
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(), element_equal);
  }
  auto left = elements(a);
  auto right = elements(b);
  if (left.size() != right.size()) return false;
  if (left.size() > 1) {  // roots of an equation come in any order
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
  }
  return std::equal(left.begin(), left.end(), right.begin(), element_equal);
}

}  // namespace assay::score
