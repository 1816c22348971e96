// Regex: the patterns that tokenizer files use to split and replace. A backtracking engine, because
// those patterns are written for one (Oniguruma, fancy-regex): leftmost match, first alternative
// first, look-around, Unicode classes.
//
// Supported: literals and escapes, [...] with nesting, negation and &&, \p{…} by general category
// (and Han, Hiragana, Katakana, Alphabetic), \s \d \w and their opposites, . ^ $ \A \z \b \B,
// groups, (?i: ), (?= ) (?! ), (?<= ) (?<! ) one character wide, (?> ), greedy, lazy and possessive
// repetition. Anything else is an error that names it.
//
// The dialect of Python's re is for extractors that users write: its groups capture (`group`), and
// it has the flags s and m.
//
// For speed, a class is a table; a repeated class is one instruction for the whole run; the first
// byte selects the alternatives that may match; a run whose successor cannot be in it never
// backtracks. `use_states` replaces the engine by a table of states (regex_states.h) where the
// pattern allows it.
//
// A compiled Regex is immutable and safe from any thread; one thread uses a RegexStack as working
// memory. Work is limited for a match (kStepsMax) and for all matches with one stack (its
// `steps_left`), so no pattern can hang a program: past the limit `find` fails.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/char_set.h"

namespace assay::text {

class RegexStates;

enum class RegexDialect : std::uint8_t {
  oniguruma,  // tokenizer.json: ^ and $ match at lines
  rust,       // tiktoken: ^ and $ match at the ends of the text
  python,     // task files: $ also matches before a newline at the end; no nested classes
};

struct RegexFrame {
  enum class Kind : std::uint8_t { branch, greedy, lazy, mark };
  Kind kind = Kind::branch;
  std::uint32_t instruction = 0;
  std::uint32_t count = 0;  // lazy: characters that may still be taken; mark: its number
  std::size_t position = 0;
  std::size_t low = 0;  // greedy: the run may step back to here
};

struct RegexStack {
  std::vector<RegexFrame> frames{};
  std::vector<std::size_t> marks{};
  std::uint64_t steps = 0;      // of the current match
  std::uint64_t steps_max = 0;  // of the current match
  std::uint64_t steps_left = std::uint64_t{1} << 30;
  std::size_t bytes_max = std::size_t{64} << 20;  // limit for a text after replacements
  bool exhausted = false;                         // a match needed too many steps on this text
  bool overgrown = false;                         // replacements made a text above bytes_max

  // Subtracts the size of one part of the text from the limit for the others.
  void made(std::size_t bytes) { bytes_max -= std::min(bytes_max, bytes); }
  // Sets limits for one text, in proportion to its size.
  void begin(std::size_t text_bytes) {
    steps_left = (std::uint64_t{1} << 24) + 64 * std::uint64_t{text_bytes};
    bytes_max = std::min(std::size_t{1} << 30, (std::size_t{1} << 20) + 16 * text_bytes);
    exhausted = false;
    overgrown = false;
  }
};

// The kinds of instructions of a compiled pattern.
enum class RegexOp : std::uint8_t {
  one,       // a character of `set`
  run,       // min to max characters of `set`, greedy
  run_hold,  // the same, but never gives one back
  run_lazy,  // the same, as few as possible
  branch,    // continue at `to`, else at `other`
  jump,      // to `to`
  mark,      // remember the position in mark `min`
  progress,  // fail unless the position is past mark `min`
  ahead,     // match the code at `to` as look-ahead, then go on at `other`
  not_ahead,
  atomic,     // match the code at `to` without backtracking into it, then go on at `other`
  ahead_set,  // the next character is of `set`
  not_ahead_set,
  behind_set,  // the character before is of `set`
  not_behind_set,
  line_begin,
  line_end,
  text_begin,
  text_end,
  text_end_newline,  // \Z
  word_edge,         // by membership of `set`
  not_word_edge,
  match,
};

class Regex {
 public:
  static Result<Regex> compile(std::string_view pattern,
                               RegexDialect dialect = RegexDialect::oniguruma);
  // Returns a pattern that matches exactly this text.
  static Regex literal(std::string_view text);

  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // Finds the leftmost match at or after `from`. REQUIRES: valid UTF-8, `from` at a character.
  bool find(std::string_view text, std::size_t from, RegexStack& stack, Match& match) const;

  // Makes a table of states, if the pattern has one: for patterns that cut long texts. It takes a
  // few milliseconds; matches stay the same.
  void use_states();
  // Null without one.
  const RegexStates* states() const { return states_.get(); }

  // The number of groups that capture: those of the dialect python, else 0.
  std::size_t groups() const { return groups_.size(); }
  // What group `number` (from 1) captured in the match that `find` found last with this stack;
  // nullopt if it took no part in it. REQUIRES: 1 <= number <= groups().
  std::optional<Match> group(std::size_t number, const RegexStack& stack) const;

  static constexpr std::uint64_t kStepsMax = 20'000'000;
  static constexpr std::size_t kInstructionsMax = 20'000;

 private:
  friend class RegexCompiler;
  friend class RegexStatesMaker;
  bool find_by_states(std::string_view text, std::size_t from, RegexStack& stack,
                      Match& match) const;
  bool find_next(std::string_view text, std::size_t from, RegexStack& stack, Match& match) const;
  using Op = RegexOp;
  struct Instruction {
    Op op = Op::match;
    std::uint32_t set = 0;
    std::uint32_t min = 0;
    std::uint32_t max = 0;
    std::uint32_t to = 0;
    std::uint32_t other = 0;
  };
  static constexpr std::size_t kNoMatch = ~std::size_t{0};

  std::size_t match_at(std::string_view text, std::size_t at, std::uint32_t start,
                       RegexStack& stack) const;
  bool run(const Instruction& op, std::string_view text, std::uint32_t next, std::size_t& at,
           RegexStack& stack) const;
  bool assertion(const Instruction& op, std::string_view text, std::size_t at) const;
  void settle(RegexStack& stack, std::size_t base) const;
  bool back_up(std::string_view text, RegexStack& stack, std::size_t base, std::uint32_t& next,
               std::size_t& at) const;
  // Computes for every first byte the alternatives (as bits) that may match there.
  void choose_by_first_byte();
  bool first_bytes(std::uint32_t start, std::array<bool, 256>& may, int depth) const;
  void hold_runs();

  std::vector<Instruction> code_{};
  std::vector<CharTable> sets_{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> groups_{};  // marks of their ends
  std::vector<std::uint32_t> starts_{};  // the top-level alternatives, at most 64
  std::array<std::uint64_t, 256> viable_{};
  std::shared_ptr<const RegexStates> states_{};  // shared by copies, never changed
  bool may_be_empty_ = false;                    // an alternative may match the empty text
  std::uint32_t marks_ = 0;
};

}  // namespace assay::text
