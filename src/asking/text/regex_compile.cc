// Converts a pattern's tree to instructions: one function for each kind of node.
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "text/regex.h"
#include "text/regex_tree.h"

namespace assay::text {
namespace {

constexpr std::uint32_t kRepeatMax = 1000;

}  // namespace

class RegexCompiler {
 public:
  RegexCompiler(std::string_view pattern, RegexDialect dialect)
      : pattern_(pattern), dialect_(dialect) {}

  Regex compile() {
    RegexNode top = parse_regex(pattern_, dialect_);
    // An alternative that begins with an alternation stays one alternative.
    std::vector<RegexNode> alternatives;
    if (top.kind == RegexNode::Kind::either) {
      alternatives = std::move(top.children);
    } else {
      alternatives.push_back(std::move(top));
    }
    for (const RegexNode& node : alternatives) {
      regex_.starts_.push_back(here());
      write(node);
      emit({.op = Op::match});
    }
    regex_.hold_runs();
    if (regex_.starts_.size() > 64) join_alternatives();
    regex_.choose_by_first_byte();
    return std::move(regex_);
  }

 private:
  using Op = RegexOp;
  using Instruction = Regex::Instruction;

  [[noreturn]] void fail(std::string_view what) const {
    throw RegexFailure{format("regex '{}': {}", pattern_.substr(0, 200), what)};
  }

  std::uint32_t here() const { return static_cast<std::uint32_t>(regex_.code_.size()); }
  std::uint32_t emit(Instruction instruction) {
    if (regex_.code_.size() >= Regex::kInstructionsMax) fail("the pattern is too large");
    regex_.code_.push_back(instruction);
    return here() - 1;
  }
  std::uint32_t table(const CharSet& set) {
    for (std::size_t i = 0; i < regex_.sets_.size(); ++i) {
      const auto& known = regex_.sets_[i].set().ranges();
      const bool same = std::equal(
          known.begin(), known.end(), set.ranges().begin(), set.ranges().end(),
          [](const auto& a, const auto& b) { return a.first == b.first && a.last == b.last; });
      if (same) return static_cast<std::uint32_t>(i);
    }
    regex_.sets_.emplace_back(set);
    return static_cast<std::uint32_t>(regex_.sets_.size() - 1);
  }

  void write(const RegexNode& node) {
    switch (node.kind) {
      case RegexNode::Kind::empty:
        return;
      case RegexNode::Kind::set:
        emit({.op = Op::one, .set = table(node.set)});
        return;
      case RegexNode::Kind::sequence:
        for (const RegexNode& child : node.children) write(child);
        return;
      case RegexNode::Kind::either:
        write_either(node);
        return;
      case RegexNode::Kind::repeat:
        write_repeat(node);
        return;
      case RegexNode::Kind::look:
        write_look(node);
        return;
      case RegexNode::Kind::atomic:
        write_sub(Op::atomic, node.children.front());
        return;
      case RegexNode::Kind::group:
        write_group(node);
        return;
      case RegexNode::Kind::assertion: {
        const auto op = node.assertion;
        const bool edge = op == Op::word_edge || op == Op::not_word_edge;
        emit({.op = op, .set = edge ? table(word_set(dialect_)) : 0});
        return;
      }
    }
  }

  void write_group(const RegexNode& node) {
    while (regex_.groups_.size() <= node.number) {
      regex_.groups_.emplace_back(regex_.marks_, regex_.marks_ + 1);
      regex_.marks_ += 2;
    }
    const auto [open, close] = regex_.groups_[node.number];
    emit({.op = Op::mark, .min = open});
    write(node.children.front());
    emit({.op = Op::mark, .min = close});
  }

  void write_either(const RegexNode& node) {
    if (const auto set = as_set(node)) {
      emit({.op = Op::one, .set = table(*set)});
      return;
    }
    std::vector<std::uint32_t> jumps;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      const bool last = i + 1 == node.children.size();
      const std::uint32_t fork = last ? 0 : emit({.op = Op::branch});
      if (!last) regex_.code_[fork].to = here();
      write(node.children[i]);
      if (last) break;
      jumps.push_back(emit({.op = Op::jump}));
      regex_.code_[fork].other = here();
    }
    for (const std::uint32_t jump : jumps) regex_.code_[jump].to = here();
  }

  void write_repeat(const RegexNode& node) {
    const RegexNode& body = node.children.front();
    const auto set = as_set(body);
    if (set) {
      const Op op = node.greed == RegexNode::Greed::lazy         ? Op::run_lazy
                    : node.greed == RegexNode::Greed::possessive ? Op::run_hold
                                                                 : Op::run;
      emit({.op = op, .set = table(*set), .min = node.min, .max = node.max});
      return;
    }
    if (node.greed == RegexNode::Greed::possessive) {
      RegexNode greedy = node;
      greedy.greed = RegexNode::Greed::greedy;
      write_sub(Op::atomic, greedy);
      return;
    }
    if (node.min > kRepeatMax || (node.max != RegexNode::kUnlimited && node.max > kRepeatMax)) {
      fail("a group is repeated more than 1000 times");
    }
    for (std::uint32_t i = 0; i < node.min; ++i) write(body);
    if (node.max == RegexNode::kUnlimited) {
      write_loop(node);
      return;
    }
    std::vector<std::uint32_t> forks;
    for (std::uint32_t i = node.min; i < node.max; ++i) {
      forks.push_back(emit({.op = Op::branch}));
      set_fork(forks.back(), node.greed, true);
      write(body);
    }
    for (const std::uint32_t fork : forks) set_fork(fork, node.greed, false);
  }

  // Sets the two exits of a fork: into the body (directly after it), and past it.
  void set_fork(std::uint32_t fork, RegexNode::Greed greed, bool into) {
    Instruction& op = regex_.code_[fork];
    const bool first = into == (greed == RegexNode::Greed::greedy);
    (first ? op.to : op.other) = into ? fork + 1 : here();
  }

  void write_loop(const RegexNode& node) {
    const std::uint32_t mark = regex_.marks_++;
    const std::uint32_t fork = emit({.op = Op::branch});
    set_fork(fork, node.greed, true);
    emit({.op = Op::mark, .min = mark});
    write(node.children.front());
    emit({.op = Op::progress, .min = mark});
    emit({.op = Op::jump, .to = fork});
    set_fork(fork, node.greed, false);
  }

  void write_look(const RegexNode& node) {
    const auto set = as_set(node.children.front());
    if (set) {
      const Op op = node.behind ? (node.negative ? Op::not_behind_set : Op::behind_set)
                                : (node.negative ? Op::not_ahead_set : Op::ahead_set);
      emit({.op = op, .set = table(*set)});
      return;
    }
    write_sub(node.negative ? Op::not_ahead : Op::ahead, node.children.front());
  }

  void write_sub(Op op, const RegexNode& body) {
    const std::uint32_t at = emit({.op = op});
    regex_.code_[at].to = here();
    write(body);
    emit({.op = Op::match});
    regex_.code_[at].other = here();
  }

  // More alternatives than bits in a word become one chain of branches.
  void join_alternatives() {
    const std::uint32_t first = here();
    for (std::size_t i = 0; i + 1 < regex_.starts_.size(); ++i) {
      const std::uint32_t at = emit({.op = Op::branch, .to = regex_.starts_[i]});
      regex_.code_[at].other = here();
    }
    emit({.op = Op::jump, .to = regex_.starts_.back()});
    regex_.starts_ = {first};
  }

  std::string_view pattern_;
  RegexDialect dialect_;
  Regex regex_{};
};

Result<Regex> Regex::compile(std::string_view pattern, RegexDialect dialect) {
  if (!valid_utf8(pattern)) return invalid("a regex is not valid UTF-8");
  try {
    return RegexCompiler(pattern, dialect).compile();
  } catch (const RegexFailure& failure) {
    return Error{Code::unsupported, failure.message};
  }
}

Regex Regex::literal(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || byte == ' ' || (c >= '0' && c <= '9') ||
                       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
    if (plain || byte < 0x20) {
      pattern += c;
    } else {
      pattern += '\\';
      pattern += c;
    }
  }
  auto regex = compile(pattern);
  return regex ? *std::move(regex) : Regex{};
}

}  // namespace assay::text
