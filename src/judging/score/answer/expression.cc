#include "score/answer/expression.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "score/answer/python_text.h"

namespace assay::score {
namespace {

using Number = long double;
using Complex = std::complex<Number>;

constexpr int kDepthMax = 100;
constexpr std::size_t kCharactersMax = 2000;
constexpr Number kRounding = 2e-19L;  // of one step, relative
constexpr Number kSafety = 16;

enum class Kind : std::uint8_t { number, variable, function, sign };
struct Token {
  Kind kind = Kind::sign;
  Complex value{};      // number
  bool point = false;   // number: it has a point or an exponent
  bool odd = false;     // number: pi
  char32_t letter = 0;  // variable; of a function its first letter; a sign, where ** is ^
};

// What the parser's language takes for a part of a name: every character that is not ASCII.
bool in_name(char32_t c) { return c >= 0x80 || python_word(c); }

// Digits of other scripts and small ones: in a name of several characters they are an error.
bool odd_digit(char32_t c) {
  return c >= 0x80 && (python_digit(c) || c == 0xB2 || c == 0xB3 || c == 0xB9 ||
                       (c >= 0x2070 && c <= 0x2089) || (c >= 0x2460 && c <= 0x249B));
}

// What the grader does not hand to the parser: more than two letters, and powers that may hang it.
bool may_be_parsed(CharactersView text) {
  std::string plain = utf8(text);
  for (const std::string_view word : {"sqrt", "frac"}) {
    for (std::size_t at = 0; (at = plain.find(word, at)) != std::string::npos;) {
      plain.erase(at, word.size());
    }
  }
  std::set<char32_t> letters;
  for (const char32_t c : characters(plain)) {
    if (python_letter(c)) letters.insert(c);
  }
  if (letters.size() > 2) return false;
  for (std::size_t at = text.find(U'^'); at != CharactersView::npos; at = text.find(U'^', at + 1)) {
    std::size_t digits = at + 1;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') ++digits;
    const std::size_t count = digits - at - 1;
    if (count > 1 || (count == 1 && digits < text.size() && text[digits] == '^')) return false;
    if (at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '(')) return false;
  }
  return true;
}

class Tokens {
 public:
  explicit Tokens(CharactersView text) : text_(text) {}

  // nullopt for what the parser refuses, or what is no number in it.
  std::optional<std::vector<Token>> run() {
    while (at_ < text_.size()) {
      const char32_t c = text_[at_];
      if (c == '\t' || c == '\n' || c == '\r' || c == '\f') {
        ++at_;
        continue;
      }
      const bool digit = c < 0x80 && python_digit(c);
      const bool read = digit || (c == '.' && digit_at(at_ + 1)) ? number()
                        : in_name(c)                             ? name()
                                                                 : sign();
      if (!read) return std::nullopt;
    }
    return std::move(out_);
  }

 private:
  bool digit_at(std::size_t at) const {
    return at < text_.size() && text_[at] >= '0' && text_[at] <= '9';
  }
  // 1_000 is a number too.
  void skip_digits() {
    while (digit_at(at_) || (at_ < text_.size() && text_[at_] == '_' && digit_at(at_ + 1))) ++at_;
  }

  bool number() {
    const std::size_t begin = at_;
    bool point = false;
    // 0x10 is a number of another base, which no answer means.
    const char32_t base = at_ + 1 < text_.size() ? text_[at_ + 1] : U' ';
    if (text_[at_] == '0' && (base == 'x' || base == 'b' || base == 'o')) return false;
    skip_digits();
    const bool zeros = std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(begin),
                                   text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                   [](char32_t c) { return c == '0'; });
    const bool leading = text_[begin] == '0' && at_ - begin > 1 && !zeros;
    if (at_ < text_.size() && text_[at_] == '.') {
      point = true;
      ++at_;
      if (digit_at(at_)) skip_digits();
    }
    if (at_ < text_.size() && text_[at_] == 'e') {
      const bool minus = at_ + 1 < text_.size() && (text_[at_ + 1] == '-' || text_[at_ + 1] == '+');
      const std::size_t exponent = at_ + (minus ? 2 : 1);
      if (minus && !digit_at(exponent)) return false;
      if (digit_at(exponent)) {
        point = true;
        at_ = exponent;
        while (digit_at(at_)) ++at_;
      }
    }
    if (leading && !point) return false;
    if (at_ < text_.size() && text_[at_] == '_') return false;
    Token token{.kind = Kind::number};
    std::string spelled = utf8(text_.substr(begin, at_ - begin));
    std::erase(spelled, '_');
    token.value = std::strtold(spelled.c_str(), nullptr);
    token.point = point;
    if (at_ < text_.size() && text_[at_] == 'j') {
      ++at_;
      token.value *= Complex(0, 1);
    }
    out_.push_back(token);
    return true;
  }

  bool name() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const CharactersView word = text_.substr(begin, at_ - begin);
    if (!std::all_of(word.begin(), word.end(), python_printable)) return false;
    const std::string spelled = utf8(word);
    if (spelled == "pi") {
      out_.push_back({.kind = Kind::number, .value = std::acos(Number(-1)), .odd = true});
      return true;
    }
    if (spelled == "sqrt" || spelled == "ln") {
      out_.push_back({.kind = Kind::function, .letter = word[0]});
      return true;
    }
    // Words of the parser's language, and functions and constants that are no number here.
    constexpr std::array<std::string_view, 25> kOther = {
        "is",  "if", "in", "or", "as",  "oo",  "zoo", "nan", "gff",  "rf", "ff",  "re", "im",
        "csc", "li", "jn", "yn", "fft", "ntt", "fu",  "eye", "frac", "id", "all", "abs"};
    if (std::find(kOther.begin(), kOther.end(), spelled) != kOther.end()) return false;
    if (spelled == "xi" || spelled == "nu" || spelled == "mu" || word.find(U'_') != word.npos) {
      out_.push_back({.kind = Kind::variable, .letter = one_letter(spelled)});
      return true;
    }
    if (word.size() == 1) {
      out_.push_back({.kind = Kind::variable, .letter = word[0]});
      return true;
    }
    // xy! is (xy)!
    const bool grouped = at_ < text_.size() && text_[at_] == '!';
    if (grouped) out_.push_back({.kind = Kind::sign, .letter = '('});
    if (!letters_of(word)) return false;
    if (grouped) out_.push_back({.kind = Kind::sign, .letter = ')'});
    return true;
  }

  // A name of several letters is their product.
  bool letters_of(CharactersView word) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (odd_digit(word[i])) return false;
      if (!python_digit(word[i])) {
        out_.push_back({.kind = Kind::variable, .letter = word[i]});
        continue;
      }
      const std::size_t begin = i;
      Number value = 0;
      for (; i < word.size() && python_digit(word[i]); ++i) {
        if (odd_digit(word[i])) return false;
        value = value * 10 + static_cast<Number>(word[i] - '0');
      }
      // Python refuses 010 as a number, and takes 00.
      if (word[begin] == '0' && i - begin > 1 && value != 0) return false;
      --i;
      out_.push_back({.kind = Kind::number, .value = value});
    }
    return true;
  }

  // A private number for a name that stays whole.
  char32_t one_letter(const std::string& spelled) {
    return names_.try_emplace(spelled, static_cast<char32_t>(0x110000 + names_.size()))
        .first->second;
  }

  bool sign() {
    const char32_t c = text_[at_];
    if (c >= 0x80 ||
        std::string_view("+-*/^()!,").find(static_cast<char>(c)) == std::string_view::npos) {
      return false;
    }
    ++at_;
    char32_t sign = c;
    if (c == '*' && at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      sign = '^';
    }
    if (c == '/' && at_ < text_.size() && text_[at_] == '/') return false;
    out_.push_back({.kind = Kind::sign, .letter = sign});
    return true;
  }

  CharactersView text_;
  std::size_t at_ = 0;
  std::vector<Token> out_{};
  std::map<std::string, char32_t> names_{};
};

// Values of the variables at a point.
using Point = std::map<char32_t, Complex>;

// A value, and a bound of its rounding error. `point`: a number with a point went into it; `odd`: a
// variable, a root or pi did. Numbers with a point are doubles to that system until something odd
// joins them.
struct Value {
  Complex is{};
  Number error = 0;
  bool point = false;
  bool odd = false;
};

Complex as_double(Complex value) {
  return {static_cast<Number>(static_cast<double>(value.real())),
          static_cast<Number>(static_cast<double>(value.imag()))};
}

// Recursive descent by Python's precedence.
class Evaluation {
 public:
  Evaluation(const std::vector<Token>& tokens, const Point& point)
      : tokens_(tokens), point_(point) {}

  // nullopt if it is no expression.
  std::optional<Value> run() {
    const Value value = sum();
    if (bad_ || at_ != tokens_.size()) return std::nullopt;
    return value;
  }

 private:
  const Token* peek() const { return at_ < tokens_.size() ? &tokens_[at_] : nullptr; }
  bool next_is(char32_t sign) const {
    return peek() != nullptr && peek()->kind == Kind::sign && peek()->letter == sign;
  }
  bool take(char32_t sign) {
    if (!next_is(sign)) return false;
    ++at_;
    return true;
  }
  Value fail() {
    bad_ = true;
    at_ = tokens_.size();
    return {};
  }
  static Value joined(const Value& a, const Value& b) {
    return {{}, 0, a.point || b.point, a.odd || b.odd};
  }
  static bool in_doubles(const Value& joint) { return joint.point && !joint.odd; }
  static Value finished(Value joint, Complex value, Number error) {
    joint.is = in_doubles(joint) ? as_double(value) : value;
    joint.error = error + kRounding * std::abs(value);
    return joint;
  }
  // The operands, which become doubles where the result will be one.
  static std::pair<Value, Value> operands(Value a, Value b) {
    if (in_doubles(joined(a, b))) {
      a.is = as_double(a.is);
      b.is = as_double(b.is);
    }
    return {a, b};
  }
  static Value times(Value left, Value right) {
    const auto [a, b] = operands(left, right);
    return finished(joined(a, b), a.is * b.is, std::abs(a.is) * b.error + std::abs(b.is) * a.error);
  }
  static Value over(Value left, Value right) {
    const auto [a, b] = operands(left, right);
    const Value joint = joined(a, b);
    // There a number is divided by multiplying with the inverse.
    const Complex ratio = in_doubles(joint) ? a.is * as_double(Complex(1) / b.is) : a.is / b.is;
    return finished(joint, ratio, (a.error + std::abs(ratio) * b.error) / std::abs(b.is));
  }
  static Value plus(Value left, Value right) {
    const auto [a, b] = operands(left, right);
    return finished(joined(a, b), a.is + b.is, a.error + b.error);
  }
  // A root or power of a number with a point is a decimal there, which never is the exact root.
  static Value decimal(Value value) {
    const Number thousand = value.is.real() * 1000;
    const bool plain = value.is.imag() == 0 && std::abs(thousand - std::round(thousand)) < 1e-12L;
    return plain ? value : times(value, {Complex(1.0137L, 0.021L), 0, false, true});
  }

  Value sum() {
    if (++depth_ > kDepthMax) return fail();
    Value value = product();
    for (;;) {
      const bool minus = next_is('-');
      if (!take('+') && !take('-')) break;
      Value other = product();
      if (minus) other.is = -other.is;
      value = plus(value, other);
    }
    --depth_;
    return value;
  }

  Value product() {
    Value value = signed_power();
    for (;;) {
      if (take('*')) {
        value = times(value, signed_power());
      } else if (take('/')) {
        const bool before = std::exchange(divides_, true);
        const Value other = signed_power();
        divides_ = before;
        value = over(value, other);
      } else if (peek() != nullptr && (peek()->kind != Kind::sign || next_is('('))) {
        value = times(value, power());
      } else {
        return value;
      }
    }
  }

  Value signed_power() {
    if (++depth_ > kDepthMax) return fail();
    Value value;
    if (take('-')) {
      value = signed_power();
      value.is = -value.is;
    } else if (take('+')) {
      value = signed_power();
    } else {
      value = power();
    }
    --depth_;
    return value;
  }

  Value power() {
    const bool divides = divides_;
    const Value base = atom();
    if (!take('^')) return base;
    const Value exponent = signed_power();
    const Value value = raised(base, exponent);
    // x^2.0 and x^2 are two things there, but not below a fraction's bar.
    const bool other = exponent.point && (base.odd || !value_is_rational(exponent));
    return other && !divides ? decimal(value) : value;
  }
  static bool value_is_rational(const Value& exponent) {
    return exponent.is == Complex(std::round(exponent.is.real()));
  }

  static Value raised(Value base, Value exponent) {
    Value joint = joined(base, exponent);
    const Number whole = std::round(exponent.is.real());
    if (exponent.is == Complex(whole) && std::abs(whole) <= 64) {
      Value value{1};
      for (int i = 0; i < static_cast<int>(std::abs(whole)); ++i) value = times(value, base);
      if (whole < 0) value = over({1}, value);
      value.point = joint.point;
      return value;
    }
    joint.odd = true;
    if (base.is == Complex(0)) {
      return {exponent.is.real() > 0 && !exponent.odd ? Complex(0) : Complex(std::nanl(""))};
    }
    const Complex value = std::pow(base.is, exponent.is);
    const Number relative =
        std::abs(exponent.is) * base.error / std::abs(base.is) +
        (std::abs(std::log(base.is)) + 1) * (exponent.error + kRounding * std::abs(exponent.is));
    return finished(joint, value, std::abs(value) * relative);
  }

  Value atom() {
    const Token* const token = peek();
    if (token == nullptr || bad_) return fail();
    ++at_;
    Value value;
    if (token->kind == Kind::number) {
      value = {token->value, kRounding * std::abs(token->value), token->point, token->odd};
    } else if (token->kind == Kind::variable) {
      const auto at = point_.find(token->letter);
      value = at == point_.end() ? fail() : Value{at->second, 0, false, true};
    } else if (token->kind == Kind::function) {
      value = function(token->letter == 's');
    } else if (token->letter == '(') {
      const bool divides = std::exchange(divides_, false);
      value = bracket();
      divides_ = divides;
    } else {
      return fail();
    }
    if (!take('!')) return value;
    return take('!') ? other_function(value, 0.7L) : factorial(value);
  }

  // As Python calls a function: a comma may follow the last argument. A root's second argument says
  // only whether it is computed, a logarithm's is its base.
  Value function(bool root) {
    if (!take('(')) return function_of(root, without_brackets());
    const Value of = function_of(root, sum());
    const bool more = take(',') && !next_is(')');
    const Value second = more ? sum() : Value{};
    if (more) take(',');
    if (!take(')')) return fail();
    return root || !more ? of : over(of, function_of(false, second));
  }
  Value function_of(bool root, const Value& of) {
    const Complex value = root ? std::sqrt(of.is) : std::log(of.is);
    Value joint = joined(of, {{}, 0, false, true});
    if (of.is == Complex(0)) return {value, root ? std::sqrt(of.error) : 0, of.point, true};
    joint = finished(joint, value, of.error / std::abs(root ? Number(2) * value : of.is));
    return of.point && !of.odd ? decimal(joint) : joint;
  }
  // sqrt.5e is the root of .5e, and sqrt.5*x that of .5*x.
  Value without_brackets() {
    if (peek() == nullptr || peek()->kind != Kind::number) return fail();
    Value value = power();
    while (peek() != nullptr && (peek()->kind != Kind::sign || take('*'))) {
      value = times(value, power());
    }
    return next_is('(') ? fail() : value;
  }

  Value factorial(Value of) {
    const Number n = of.is.real();
    if (of.is.imag() == 0 && n >= 0 && n <= 1000 && n == std::round(n)) {
      const Number value = std::tgamma(n + 1);
      return finished({{}, 0, of.point, of.odd}, value, value * 64 * kRounding);
    }
    return other_function(of, 1.7L);
  }
  // Only the same argument gives the same value: any such function serves.
  static Value other_function(Value of, Number scale) {
    return finished({{}, 0, of.point, true},
                    std::cos(scale * of.is + Number(0.3L)) + Number(0.1L) * of.is * of.is,
                    of.error * (2 + std::abs(of.is)) * std::cosh(scale * of.is.imag()));
  }

  Value bracket() {
    const Value value = sum();
    return take(')') ? value : fail();
  }

  const std::vector<Token>& tokens_;
  const Point& point_;
  bool divides_ = false;  // directly below a fraction's bar
  std::size_t at_ = 0;
  int depth_ = 0;
  bool bad_ = false;
};

// `any`: there was a value at this point.
bool vanishes(const std::vector<Token>& tokens, const Point& point, bool& any) {
  const auto value = Evaluation(tokens, point).run();
  if (!value) return false;
  if (!std::isfinite(std::abs(value->is))) return !point.empty();
  any = true;
  return std::abs(value->is) <= kSafety * value->error;
}

}  // namespace

bool difference_is_zero(std::string_view a, std::string_view b) {
  const Characters text = characters(format("({})-({})", a, b));
  if (text.size() > kCharactersMax || !may_be_parsed(text)) return false;
  Tokens reader(text);
  const auto tokens = reader.run();
  if (!tokens) return false;
  std::set<char32_t> variables;
  for (const Token& one : *tokens) {
    if (one.kind == Kind::variable) variables.insert(one.letter);
  }
  bool any = false;
  if (variables.empty()) return vanishes(*tokens, {}, any);
  // Both signs, off the axes: √(x²) is not x.
  constexpr std::array<std::array<Number, 2>, 5> kPoints = {{{0.613L, 0.271L},
                                                             {-1.371L, 0.433L},
                                                             {2.377L, -0.719L},
                                                             {-0.219L, -1.117L},
                                                             {3.141L, 0.057L}}};
  for (const auto& [real, imaginary] : kPoints) {
    Point point;
    Number shift = 0;
    for (const char32_t name : variables) {
      point[name] = Complex(real + shift, imaginary - shift / 3);
      shift += 0.377L;
    }
    if (!vanishes(*tokens, point, any)) return false;
  }
  return any;
}

}  // namespace assay::score
