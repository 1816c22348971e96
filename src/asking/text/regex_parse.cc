// Parses a pattern by recursive descent: one function for each rule of the grammar returns a node.
#include <algorithm>
#include <optional>

#include "base/format.h"
#include "base/text.h"
#include "text/regex_tree.h"

namespace assay::text {
namespace {

constexpr int kRegexDepthMax = 100;

RegexNode set_node(CharSet set) {
  RegexNode node;
  node.kind = RegexNode::Kind::set;
  node.set = std::move(set);
  return node;
}

class RegexParser {
 public:
  RegexParser(std::string_view pattern, RegexDialect dialect)
      : pattern_(pattern), dialect_(dialect) {}

  RegexNode parse() {
    RegexNode top = alternation(0);
    if (at_ < pattern_.size()) fail("unmatched ')'");
    return top;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw RegexFailure{format("regex '{}', at byte {}: {}", pattern_.substr(0, 200), at_, what)};
  }

  bool more() const { return at_ < pattern_.size(); }
  bool accept(std::string_view text) {
    if (pattern_.substr(at_).substr(0, text.size()) != text) return false;
    at_ += text.size();
    return true;
  }
  char32_t next_char() {
    if (!more()) fail("ends too early");
    const CodePoint c = decode_at(pattern_, at_);
    at_ += c.bytes;
    return c.value;
  }

  RegexNode alternation(int depth) {
    if (depth > kRegexDepthMax) fail("too deeply nested");
    const Flags outer = flags_;
    RegexNode either;
    either.kind = RegexNode::Kind::either;
    do {
      either.children.push_back(sequence(depth));
    } while (accept("|"));
    flags_ = outer;
    if (either.children.size() == 1) {
      RegexNode only = std::move(either.children.front());
      return only;
    }
    return either;
  }

  RegexNode sequence(int depth) {
    RegexNode list;
    list.kind = RegexNode::Kind::sequence;
    while (more() && pattern_[at_] != '|' && pattern_[at_] != ')') {
      list.children.push_back(repeated(depth));
    }
    return list;
  }

  RegexNode repeated(int depth) {
    RegexNode node = atom(depth);
    for (;;) {
      std::uint32_t min = 0;
      std::uint32_t max = RegexNode::kUnlimited;
      bool counted = false;
      if (accept("*")) {
      } else if (accept("+")) {
        min = 1;
      } else if (accept("?")) {
        max = 1;
      } else if (more() && pattern_[at_] == '{' && count(min, max)) {
        counted = true;
      } else {
        return node;
      }
      if (node.kind == RegexNode::Kind::look || node.kind == RegexNode::Kind::assertion) {
        fail("a repeated assertion is not supported");
      }
      RegexNode outer;
      outer.kind = RegexNode::Kind::repeat;
      outer.min = min;
      outer.max = max;
      if (accept("?")) {
        outer.greed = RegexNode::Greed::lazy;
      } else if (!(counted && dialect_ == RegexDialect::oniguruma) && accept("+")) {
        outer.greed = RegexNode::Greed::possessive;
      }
      outer.children.push_back(std::move(node));
      node = std::move(outer);
    }
  }

  // Reads {n} {n,} {n,m} {,m}; anything else is a literal brace.
  bool count(std::uint32_t& min, std::uint32_t& max) {
    const std::size_t close = pattern_.find('}', at_);
    if (close == std::string_view::npos) return false;
    const std::string_view inside = pattern_.substr(at_ + 1, close - at_ - 1);
    const std::size_t comma = inside.find(',');
    const std::string_view low = inside.substr(0, comma);
    const bool bounded = comma != std::string_view::npos && comma + 1 < inside.size();
    if (low.empty() && !bounded) return false;
    const auto number = [](std::string_view digits) -> std::optional<std::uint32_t> {
      const bool plain =
          !digits.empty() && digits.size() <= 6 &&
          std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!plain) return std::nullopt;
      return static_cast<std::uint32_t>(parse_uint(digits).value_or(0));
    };
    const auto first = low.empty() ? std::optional<std::uint32_t>(0) : number(low);
    if (!first) return false;
    min = *first;
    max = comma == std::string_view::npos ? min : RegexNode::kUnlimited;
    if (bounded) {
      const auto last = number(inside.substr(comma + 1));
      if (!last) return false;
      max = *last;
    }
    if (min > max) fail("a repetition's bounds are the wrong way round");
    at_ = close + 1;
    return true;
  }

  RegexNode assertion(RegexOp op) const {
    RegexNode node;
    node.kind = RegexNode::Kind::assertion;
    node.assertion = op;
    return node;
  }

  RegexNode atom(int depth) {
    if (accept("(")) return group(depth);
    if (accept("[")) return set_node(cased(bracket(0)));
    if (accept(".")) {
      return set_node(flags_.dot_all ? CharSet::everything() : CharSet::of('\n', '\n').negated());
    }
    const bool lines = dialect_ == RegexDialect::oniguruma || flags_.lines;
    if (accept("^")) return assertion(lines ? RegexOp::line_begin : RegexOp::text_begin);
    if (accept("$")) {
      return assertion(lines      ? RegexOp::line_end
                       : python() ? RegexOp::text_end_newline
                                  : RegexOp::text_end);
    }
    if (python() && accept("\\Z")) return assertion(RegexOp::text_end);
    if (accept("\\A")) return assertion(RegexOp::text_begin);
    if (accept("\\z")) return assertion(RegexOp::text_end);
    if (accept("\\Z")) return assertion(RegexOp::text_end_newline);
    if (accept("\\b")) return assertion(RegexOp::word_edge);
    if (accept("\\B")) return assertion(RegexOp::not_word_edge);
    if (pattern_[at_] == '*' || pattern_[at_] == '+' || pattern_[at_] == '?') {
      fail("nothing to repeat");
    }
    if (pattern_[at_] == '\\') {
      if (const auto set = class_escape()) return set_node(cased(*set));
      const char32_t c = escaped();
      return set_node(cased(CharSet::of(c, c)));
    }
    const char32_t c = next_char();
    return set_node(cased(CharSet::of(c, c)));
  }

  CharSet cased(CharSet set) const { return flags_.ignore_case ? set.case_closed() : set; }
  bool python() const { return dialect_ == RegexDialect::python; }

  RegexNode group(int depth) {
    RegexNode node;
    node.kind = RegexNode::Kind::look;
    if (accept("?=")) {
    } else if (accept("?!")) {
      node.negative = true;
    } else if (accept("?<=")) {
      node.behind = true;
    } else if (accept("?<!")) {
      node.behind = node.negative = true;
    } else if (accept("?>")) {
      node.kind = RegexNode::Kind::atomic;
    } else {
      return plain_group(depth);
    }
    node.children.push_back(alternation(depth + 1));
    close_group();
    if (node.behind) {
      const auto width_one = as_set(node.children.front());
      if (!width_one) fail("look-behind of more than one character is not supported");
      node.children.front() = set_node(*width_one);
    }
    return node;
  }

  void close_group() {
    if (!accept(")")) fail("a group is not closed");
  }

  RegexNode plain_group(int depth) {
    const Flags outer = flags_;
    bool captures = python();
    if (accept("?<") || accept("?P<")) {
      const std::size_t close = pattern_.find('>', at_);
      if (close == std::string_view::npos) fail("a group's name is not closed");
      at_ = close + 1;
    } else if (accept("?")) {
      captures = false;
      bool on = true;
      while (more() && pattern_[at_] != ':' && pattern_[at_] != ')') {
        const char32_t flag = next_char();
        if (flag == '-') {
          on = false;
        } else if (flag == 'i') {
          flags_.ignore_case = on;
        } else if (python() && flag == 's') {
          flags_.dot_all = on;
        } else if (python() && flag == 'm') {
          flags_.lines = on;
        } else if (flag != 'u') {
          fail("this group or flag is not supported");
        }
      }
      if (accept(")")) return RegexNode{};  // applies to the rest of its group
      accept(":");
    }
    const std::uint32_t number = groups_;
    groups_ += captures ? 1 : 0;
    RegexNode node = alternation(depth + 1);
    close_group();
    flags_ = outer;
    if (!captures) return node;
    RegexNode group;
    group.kind = RegexNode::Kind::group;
    group.number = number;
    group.children.push_back(std::move(node));
    return group;
  }

  // Reads the rest of a class after '[': items, then && and more items, …, ']'.
  CharSet bracket(int depth) {
    if (depth > kRegexDepthMax) fail("too deeply nested");
    const bool negative = accept("^");
    std::optional<CharSet> left;
    CharSet items;
    bool first = true;
    for (;; first = false) {
      if (!more()) fail("a [ is not closed");
      if (!first && accept("]")) break;
      if (!python() && accept("&&")) {
        left = left ? left->intersected(items) : items;
        items = CharSet();
        continue;
      }
      bracket_item(items, depth);
    }
    CharSet set = left ? left->intersected(items) : items;
    if (flags_.ignore_case) set = set.case_closed();
    return negative ? set.negated() : set;
  }

  void bracket_item(CharSet& items, int depth) {
    if (!python() && pattern_.substr(at_).starts_with("[:")) {
      if (const auto set = posix()) {
        items.add(*set);
        return;
      }
    }
    if (!python() && accept("[")) {
      items.add(bracket(depth + 1));
      return;
    }
    if (pattern_[at_] == '\\') {
      if (const auto set = class_escape()) {
        items.add(*set);
        return;
      }
    }
    const char32_t from = pattern_[at_] == '\\' ? escaped() : next_char();
    char32_t to = from;
    const std::string_view rest = pattern_.substr(at_);
    if (rest.size() >= 2 && rest[0] == '-' && rest[1] != ']') {
      const std::size_t dash = at_++;
      if (!python() && pattern_[at_] == '[') {
        at_ = dash;  // "a-[b]": a literal dash
      } else if (pattern_[at_] == '\\' && class_escape()) {
        at_ = dash;
      } else {
        to = pattern_[at_] == '\\' ? escaped() : next_char();
      }
    }
    if (from > to) fail("a range's ends are the wrong way round");
    items.add(from, to);
  }

  std::optional<CharSet> posix() {
    const std::size_t close = pattern_.find(":]", at_);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view name = pattern_.substr(at_ + 2, close - at_ - 2);
    const bool negative = name.starts_with('^');
    if (negative) name.remove_prefix(1);
    const auto set = named_set(name);
    if (!set) fail(format("[:{}:] is not supported", name));
    at_ = close + 2;
    return negative ? set->negated() : *set;
  }

  // Reads \s \d \w \p{…} and their opposites; consumes nothing for another escape.
  std::optional<CharSet> class_escape() {
    const std::string_view rest = pattern_.substr(at_);
    if (rest.size() < 2) return std::nullopt;
    const char kind = rest[1];
    const auto made = [&](CharSet set, bool negative) {
      at_ += 2;
      return negative ? set.negated() : set;
    };
    switch (kind) {
      case 's':
      case 'S':
        return made(space_set(dialect_), kind == 'S');
      case 'd':
      case 'D':
        return made(CharSet::categories(category_mask("Nd")), kind == 'D');
      case 'w':
      case 'W':
        return made(word_set(dialect_), kind == 'W');
      case 'p':
      case 'P':
        return property(kind == 'P');
      default:
        return std::nullopt;
    }
  }

  CharSet property(bool negative) {
    at_ += 2;
    std::string_view name;
    if (accept("{")) {
      if (accept("^")) negative = !negative;
      const std::size_t close = pattern_.find('}', at_);
      if (close == std::string_view::npos) fail("\\p{ is not closed");
      name = pattern_.substr(at_, close - at_);
      at_ = close + 1;
    } else {
      if (!more()) fail("ends too early");
      name = pattern_.substr(at_++, 1);
    }
    const auto set = named_set(name);
    if (!set) fail(format("\\p{{{}}} is not supported", name));
    return negative ? set->negated() : *set;
  }

  char32_t hex(std::size_t digits_max, bool braces) {
    const std::size_t begin = at_;
    char32_t value = 0;
    while (more() && at_ - begin < digits_max) {
      const char c = pattern_[at_];
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) break;
      value = value * 16 + static_cast<char32_t>(digit);
      ++at_;
    }
    if (at_ == begin || (braces && !accept("}"))) fail("not a hexadecimal code point");
    if (value >= kCodePoints) fail("no such code point");
    return value;
  }

  char32_t escaped() {
    ++at_;
    const char32_t c = next_char();
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'f':
        return '\f';
      case 'v':
        return '\v';
      case 'a':
        return '\a';
      case 'e':
        return 0x1B;
      case '0':
        return 0;
      case 'b':
        return '\b';  // only inside [...]
      case 'x':
        return accept("{") ? hex(8, true) : hex(2, false);
      case 'u':
        return accept("{") ? hex(8, true) : hex(4, false);
      default:
        break;
    }
    const bool letter_or_digit =
        c < 0x80 && ((c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z'));
    if (letter_or_digit) fail(format("\\{} is not supported", static_cast<char>(c)));
    return c;
  }

  std::string_view pattern_;
  RegexDialect dialect_;
  std::size_t at_ = 0;
  struct Flags {
    bool ignore_case = false;
    bool dot_all = false;
    bool lines = false;
  };
  Flags flags_{};
  std::uint32_t groups_ = 0;
};

}  // namespace

RegexNode parse_regex(std::string_view pattern, RegexDialect dialect) {
  return RegexParser(pattern, dialect).parse();
}

}  // namespace assay::text
