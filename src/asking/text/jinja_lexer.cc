#include "text/jinja_lexer.h"

#include <array>

#include "base/format.h"
#include "base/text.h"
#include "text/jinja_value.h"
#include "text/unicode.h"

namespace assay::text::jinja {
namespace {

constexpr std::size_t kSourceBytesMax = std::size_t{1} << 20;

constexpr std::array<std::string_view, 7> kLongSymbols = {"**", "//", "==", "!=", "<=", ">=", "->"};
constexpr std::string_view kSymbols = "+-*/%~<>=.:,()[]{}|";

bool name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool digit(char c) { return c >= '0' && c <= '9'; }
bool space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

class Lexer {
 public:
  explicit Lexer(std::string source) : source_(std::move(source)) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) text();
    push(Token::Kind::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fault(std::string message) const { throw Fault{std::move(message), line_}; }

  void push(Token::Kind kind, std::string text) {
    tokens_.push_back({kind, std::move(text), line_});
  }
  bool sees(std::string_view text) const {
    return std::string_view(source_).substr(at_).starts_with(text);
  }
  void advance(std::size_t to) {
    for (; at_ < to; ++at_) line_ += source_[at_] == '\n';
  }

  // Reads text up to the next tag, and that tag.
  void text() {
    std::size_t tag = at_;
    while ((tag = source_.find('{', tag)) != std::string::npos) {
      const char next = tag + 1 < source_.size() ? source_[tag + 1] : '\0';
      if (next == '{' || next == '%' || next == '#') break;
      ++tag;
    }
    const bool last = tag == std::string::npos;
    std::string plain = source_.substr(at_, last ? tag : tag - at_);
    const bool line_start = at_ == 0 || source_[at_ - 1] == '\n' || text_at_line_start_;
    if (last) {
      emit(std::move(plain));
      advance(source_.size());
      return;
    }
    const char kind = source_[tag + 1];
    const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    if (sign == '-') {
      while (!plain.empty() && space(plain.back())) plain.pop_back();
    } else if (sign != '+' && kind != '{') {
      strip_line(plain, line_start);
    }
    emit(std::move(plain));
    advance(tag + 2);
    if (sign == '-' || (sign == '+' && kind != '{')) advance(at_ + 1);
    if (kind == '#') {
      comment();
    } else if (kind == '%') {
      block();
    } else {
      push(Token::Kind::print_begin, "{{");
      inside("}}");
      push(Token::Kind::print_end, "}}");
      text_at_line_start_ = false;
    }
  }

  void emit(std::string plain) {
    if (!plain.empty()) push(Token::Kind::text, std::move(plain));
  }

  // lstrip_blocks: removes spaces between a line's start and the tag.
  static void strip_line(std::string& plain, bool at_line_start) {
    std::size_t end = plain.size();
    while (end > 0 && (plain[end - 1] == ' ' || plain[end - 1] == '\t')) --end;
    const bool whole = end == 0 ? at_line_start : plain[end - 1] == '\n';
    if (whole) plain.resize(end);
  }

  // trim_blocks: removes the line end directly after a block.
  void after_block(char sign) {
    if (sign == '-') {
      while (at_ < source_.size() && space(source_[at_])) advance(at_ + 1);
    } else if (sign != '+' && at_ < source_.size() && source_[at_] == '\n') {
      advance(at_ + 1);
    }
    text_at_line_start_ = at_ > 0 && source_[at_ - 1] == '\n';
  }

  void comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) fault("a comment is not closed: {# without #}");
    const char sign = end > at_ ? source_[end - 1] : '\0';
    advance(end + 2);
    after_block(sign);
  }

  void block() {
    if (raw()) return;
    push(Token::Kind::block_begin, "{%");
    const char sign = inside("%}");
    push(Token::Kind::block_end, "%}");
    after_block(sign);
  }

  // Reads {% raw %} … {% endraw %}: the text stays unchanged.
  bool raw() {
    std::size_t at = at_;
    while (at < source_.size() && space(source_[at])) ++at;
    if (source_.compare(at, 3, "raw") != 0) return false;
    at += 3;
    while (at < source_.size() && space(source_[at])) ++at;
    char sign = '\0';
    if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) sign = source_[at++];
    if (source_.compare(at, 2, "%}") != 0) return false;
    advance(at + 2);
    after_block(sign);
    std::size_t tag = at_;
    for (;; ++tag) {
      tag = source_.find("{%", tag);
      if (tag == std::string::npos) fault("raw is not closed: no {% endraw %}");
      std::size_t word = tag + 2;
      if (word < source_.size() && (source_[word] == '-' || source_[word] == '+')) ++word;
      while (word < source_.size() && space(source_[word])) ++word;
      if (source_.compare(word, 6, "endraw") != 0) continue;
      std::string plain = source_.substr(at_, tag - at_);
      if (source_[tag + 2] == '-') {
        while (!plain.empty() && space(plain.back())) plain.pop_back();
      } else {
        strip_line(plain, text_at_line_start_);
      }
      emit(std::move(plain));
      const std::size_t close = source_.find("%}", word);
      if (close == std::string::npos) fault("a block is not closed: {% without %}");
      const char end_sign = source_[close - 1];
      advance(close + 2);
      after_block(end_sign);
      return true;
    }
  }

  // Reads the tokens of a tag, up to and with `end`; returns the sign before the end.
  char inside(std::string_view end) {
    int depth = 0;
    for (;;) {
      while (at_ < source_.size() && space(source_[at_])) advance(at_ + 1);
      if (at_ >= source_.size()) fault(format("a tag is not closed: no {}", end));
      if (depth == 0) {
        const char sign = source_[at_];
        if ((sign == '-' || sign == '+') &&
            std::string_view(source_).substr(at_ + 1).starts_with(end)) {
          advance(at_ + 1 + end.size());
          if (sign == '-') {
            while (at_ < source_.size() && space(source_[at_])) advance(at_ + 1);
          }
          return sign;
        }
        if (sees(end)) {
          advance(at_ + end.size());
          return '\0';
        }
      }
      token(depth);
    }
  }

  void token(int& depth) {
    const char c = source_[at_];
    if (name_start(c)) {
      std::size_t stop = at_;
      while (stop < source_.size() && (name_start(source_[stop]) || digit(source_[stop]))) ++stop;
      push(Token::Kind::name, source_.substr(at_, stop - at_));
      advance(stop);
    } else if (digit(c)) {
      number();
    } else if (c == '"' || c == '\'') {
      string(c);
    } else {
      for (const std::string_view symbol : kLongSymbols) {
        if (!sees(symbol)) continue;
        push(Token::Kind::symbol, std::string(symbol));
        advance(at_ + symbol.size());
        return;
      }
      if (kSymbols.find(c) == std::string_view::npos) fault(format("unexpected '{}'", c));
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      if (depth < 0) fault(format("unexpected '{}'", c));
      push(Token::Kind::symbol, std::string(1, c));
      advance(at_ + 1);
    }
  }

  void number() {
    std::size_t stop = at_;
    bool real = false;
    const auto at = [this](std::size_t i) { return i < source_.size() ? source_[i] : '\0'; };
    while (digit(at(stop)) || at(stop) == '_') ++stop;
    if (at(stop) == '.' && digit(at(stop + 1))) {
      real = true;
      for (++stop; digit(at(stop)); ++stop) {
      }
    }
    if ((at(stop) | 0x20) == 'e' && (digit(at(stop + 1)) || digit(at(stop + 2)))) {
      real = true;
      for (stop += 2; digit(at(stop)); ++stop) {
      }
    }
    std::string digits;
    for (; at_ < stop; ++at_) {
      if (source_[at_] != '_') digits += source_[at_];
    }
    push(real ? Token::Kind::real : Token::Kind::integer, std::move(digits));
  }

  void string(char quote) {
    const int line = line_;
    std::string value;
    std::size_t i = at_ + 1;
    for (; i < source_.size() && source_[i] != quote; ++i) {
      if (source_[i] != '\\') {
        value += source_[i];
        continue;
      }
      if (++i >= source_.size()) break;
      escape(value, i);
    }
    if (i >= source_.size()) fault("a string is not closed");
    push(Token::Kind::string, std::move(value));
    advance(i + 1);
    tokens_.back().line = line;
  }

  // source_[i] follows the backslash; on return i is the last character of the escape.
  void escape(std::string& value, std::size_t& i) const {
    const char c = source_[i];
    constexpr std::string_view kFrom = "nrtbfva0\\'\"";
    constexpr std::string_view kTo("\n\r\t\b\f\v\a\0\\'\"", 11);
    if (const std::size_t k = kFrom.find(c); k != std::string_view::npos) {
      value += kTo[k];
      return;
    }
    const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    if (digits == 0) {
      if (c != '\n') value += {'\\', c};
      return;
    }
    char32_t code = 0;
    for (std::size_t k = 1; k <= digits; ++k) {
      const char h = i + k < source_.size() ? source_[i + k] : ' ';
      const int d = digit(h)               ? h - '0'
                    : h >= 'a' && h <= 'f' ? h - 'a' + 10
                    : h >= 'A' && h <= 'F' ? h - 'A' + 10
                                           : -1;
      if (d < 0) fault("a string's escape is cut off");
      code = code * 16 + static_cast<char32_t>(d);
    }
    if (code >= kCodePoints || (code >= 0xD800 && code <= 0xDFFF)) fault("no such character");
    append_utf8(value, code);
    i += digits;
  }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool text_at_line_start_ = false;
  std::vector<Token> tokens_{};
};

}  // namespace

std::vector<Token> tokenize(std::string_view source) {
  if (source.size() > kSourceBytesMax) fail("longer than 1 MiB");
  if (!valid_utf8(source)) fail("not valid UTF-8");
  std::string lines;
  lines.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      if (i + 1 < source.size() && source[i + 1] == '\n') continue;
      lines += '\n';
    } else {
      lines += source[i];
    }
  }
  if (!lines.empty() && lines.back() == '\n') lines.pop_back();  // keep_trailing_newline is off
  return Lexer(std::move(lines)).run();
}

}  // namespace assay::text::jinja
