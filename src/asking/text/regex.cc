#include "text/regex.h"

#include <algorithm>

#include "text/regex_states.h"

namespace assay::text {

bool Regex::find(std::string_view text, std::size_t from, RegexStack& stack, Match& match) const {
  if (states_) return find_by_states(text, from, stack, match);
  stack.steps = 0;
  stack.steps_max = std::min(kStepsMax, stack.steps_left);
  const bool found = find_next(text, from, stack, match);
  stack.steps_left -= std::min(stack.steps_left, stack.steps);
  return found;
}

void Regex::use_states() { states_ = RegexStates::make(*this); }

bool Regex::find_by_states(std::string_view text, std::size_t from, RegexStack& stack,
                           Match& match) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (viable_[static_cast<unsigned char>(text[at])] == 0) continue;
    std::size_t seen = at;
    const std::size_t end = states_->match_at(text, at, seen);
    if (!RegexStates::pay(seen - (end == kNoMatch ? at : end), stack)) return false;
    if (end == kNoMatch) continue;
    match = {at, end};
    return true;
  }
  return false;
}

bool Regex::find_next(std::string_view text, std::size_t from, RegexStack& stack,
                      Match& match) const {
  if (stack.marks.size() < marks_) stack.marks.resize(marks_);
  if (!groups_.empty()) stack.frames.clear();
  for (const auto& [open, close] : groups_) stack.marks[open] = stack.marks[close] = kNoMatch;
  for (std::size_t at = from; at <= text.size(); ++at) {
    if (at == text.size()) {
      if (!may_be_empty_) return false;
    } else if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) {
      continue;
    }
    std::uint64_t viable =
        may_be_empty_ ? ~std::uint64_t{0} : viable_[static_cast<unsigned char>(text[at])];
    while (viable != 0) {
      const auto which = static_cast<std::size_t>(__builtin_ctzll(viable));
      if (which >= starts_.size()) break;
      viable &= viable - 1;
      const std::size_t end = match_at(text, at, starts_[which], stack);
      if (stack.exhausted) return false;
      if (end != kNoMatch) {
        match = {at, end};
        return true;
      }
    }
  }
  return false;
}

std::optional<Regex::Match> Regex::group(std::size_t number, const RegexStack& stack) const {
  const auto& [open, close] = groups_[number - 1];
  if (stack.marks[close] == kNoMatch) return std::nullopt;
  return Match{stack.marks[open], stack.marks[close]};
}

// Forgets the choices above `base`. What groups captured can still be undone by an earlier choice.
void Regex::settle(RegexStack& stack, std::size_t base) const {
  if (groups_.empty()) {
    stack.frames.resize(base);
    return;
  }
  const auto first = stack.frames.begin() + static_cast<std::ptrdiff_t>(base);
  stack.frames.erase(
      std::remove_if(first, stack.frames.end(),
                     [](const RegexFrame& frame) { return frame.kind != RegexFrame::Kind::mark; }),
      stack.frames.end());
}

bool Regex::assertion(const Instruction& op, std::string_view text, std::size_t at) const {
  const auto member = [&](std::size_t position) {
    return sets_[op.set].contains(decode_at(text, position).value);
  };
  const auto word_edge = [&] {
    const bool before = at > 0 && member(previous(text, at));
    const bool after = at < text.size() && member(at);
    return before != after;
  };
  switch (op.op) {
    case Op::ahead_set:
      return at < text.size() && member(at);
    case Op::not_ahead_set:
      return at >= text.size() || !member(at);
    case Op::behind_set:
      return at > 0 && member(previous(text, at));
    case Op::not_behind_set:
      return at == 0 || !member(previous(text, at));
    case Op::line_begin:
      return at == 0 || text[at - 1] == '\n';
    case Op::line_end:
      return at == text.size() || text[at] == '\n';
    case Op::text_begin:
      return at == 0;
    case Op::text_end:
      return at == text.size();
    case Op::text_end_newline:
      return at == text.size() || (at + 1 == text.size() && text[at] == '\n');
    case Op::word_edge:
      return word_edge();
    case Op::not_word_edge:
      return !word_edge();
    default:
      return false;
  }
}

// Goes back to the last choice on the stack; returns false when none is left above `base`.
bool Regex::back_up(std::string_view text, RegexStack& stack, std::size_t base, std::uint32_t& next,
                    std::size_t& at) const {
  while (stack.frames.size() > base) {
    RegexFrame& frame = stack.frames.back();
    switch (frame.kind) {
      case RegexFrame::Kind::mark:
        stack.marks[frame.count] = frame.position;
        stack.frames.pop_back();
        continue;
      case RegexFrame::Kind::branch:
        next = frame.instruction;
        at = frame.position;
        stack.frames.pop_back();
        return true;
      case RegexFrame::Kind::greedy:
        frame.position = previous(text, frame.position);
        next = frame.instruction;
        at = frame.position;
        if (frame.position <= frame.low) stack.frames.pop_back();
        return true;
      case RegexFrame::Kind::lazy: {
        std::uint32_t taken = 0;
        const CharTable& set = sets_[code_[frame.instruction - 1].set];
        frame.position = set.run_end(text, frame.position, 1, taken);
        if (taken == 0) {
          stack.frames.pop_back();
          continue;
        }
        next = frame.instruction;
        at = frame.position;
        if (--frame.count == 0) stack.frames.pop_back();
        return true;
      }
    }
  }
  return false;
}

// Moves past a repeated class at `at`, and pushes what can be given back (or still taken) on the
// stack for the instruction `next`.
bool Regex::run(const Instruction& op, std::string_view text, std::uint32_t next, std::size_t& at,
                RegexStack& stack) const {
  using Kind = RegexFrame::Kind;
  const bool lazy = op.op == Op::run_lazy;
  std::uint32_t taken = 0;
  const std::size_t begin = at;
  at = sets_[op.set].run_end(text, at, lazy ? op.min : op.max, taken);
  stack.steps += taken / 64;
  if (taken < op.min) return false;
  if (lazy && op.max > op.min) {
    stack.frames.push_back({Kind::lazy, next, op.max - op.min, at, 0});
  } else if (op.op == Op::run && taken > op.min) {
    std::size_t low = begin;
    for (std::uint32_t i = 0; i < op.min; ++i) low += decode_at(text, low).bytes;
    stack.frames.push_back({Kind::greedy, next, 0, at, low});
  }
  return true;
}

std::size_t Regex::match_at(std::string_view text, std::size_t at, std::uint32_t start,
                            RegexStack& stack) const {
  using Kind = RegexFrame::Kind;
  const std::size_t base = stack.frames.size();
  std::uint32_t next = start;
  for (;;) {
    if (++stack.steps > stack.steps_max) stack.exhausted = true;
    if (stack.exhausted) {
      stack.frames.resize(base);
      return kNoMatch;
    }
    const Instruction& op = code_[next];
    bool good = true;
    ++next;
    switch (op.op) {
      case Op::match:
        settle(stack, base);
        return at;
      case Op::one: {
        std::uint32_t taken = 0;
        at = sets_[op.set].run_end(text, at, 1, taken);
        good = taken == 1;
        break;
      }
      case Op::run:
      case Op::run_hold:
      case Op::run_lazy:
        good = run(op, text, next, at, stack);
        break;
      case Op::branch:
        stack.frames.push_back({Kind::branch, op.other, 0, at, 0});
        next = op.to;
        break;
      case Op::jump:
        next = op.to;
        break;
      case Op::mark:
        stack.frames.push_back({Kind::mark, 0, op.min, stack.marks[op.min], 0});
        stack.marks[op.min] = at;
        break;
      case Op::progress:
        good = stack.marks[op.min] != at;
        break;
      case Op::ahead:
      case Op::not_ahead:
      case Op::atomic: {
        const std::size_t end = match_at(text, at, op.to, stack);
        good = (end != kNoMatch) == (op.op != Op::not_ahead);
        if (good && op.op == Op::atomic) at = end;
        next = op.other;
        break;
      }
      default:
        good = assertion(op, text, at);
    }
    if (!good && !back_up(text, stack, base, next, at)) return kNoMatch;
  }
}

// Marks in `may` every byte with which a match from `start` can begin; returns false when it may
// begin without one (or when that is too costly to find out).
bool Regex::first_bytes(std::uint32_t start, std::array<bool, 256>& may, int depth) const {
  if (depth > 64) return false;
  for (std::uint32_t at = start;; ++at) {
    const Instruction& op = code_[at];
    switch (op.op) {
      case Op::one:
      case Op::run:
      case Op::run_hold:
      case Op::run_lazy:
        for (unsigned b = 0; b < 256; ++b) {
          if (sets_[op.set].may_begin(static_cast<unsigned char>(b))) may[b] = true;
        }
        if (op.op == Op::one || op.min > 0) return true;
        break;
      case Op::branch:
        return first_bytes(op.to, may, depth + 1) && first_bytes(op.other, may, depth + 1);
      case Op::jump:
        at = op.to - 1;
        break;
      case Op::atomic: {
        std::array<bool, 256> inner{};
        if (!first_bytes(op.to, inner, depth + 1)) return false;
        for (unsigned b = 0; b < 256; ++b) may[b] = may[b] || inner[b];
        return true;
      }
      case Op::ahead:
      case Op::not_ahead:
        at = op.other - 1;
        break;
      case Op::match:
        return false;
      default:
        break;  // assertions consume no character
    }
    if (++depth > 64) return false;
  }
}

void Regex::choose_by_first_byte() {
  may_be_empty_ = starts_.size() > 64;
  for (std::size_t i = 0; i < starts_.size() && i < 64; ++i) {
    std::array<bool, 256> may{};
    if (!first_bytes(starts_[i], may, 0)) may_be_empty_ = true;
    for (unsigned b = 0; b < 256; ++b) {
      if (may[b]) viable_[b] |= std::uint64_t{1} << i;
    }
  }
}

// A greedy run need not give back when what follows it ends the match, or begins with a character
// that the run cannot contain: giving back would only reach a member of the run.
void Regex::hold_runs() {
  for (std::size_t i = 0; i + 1 < code_.size(); ++i) {
    if (code_[i].op != Op::run) continue;
    std::size_t after = i + 1;
    while (code_[after].op == Op::jump) after = code_[after].to;
    const Instruction& next = code_[after];
    const bool ends = next.op == Op::match;
    const bool takes =
        next.op == Op::one || ((next.op == Op::run || next.op == Op::run_hold) && next.min > 0);
    const bool apart =
        takes && sets_[code_[i].set].set().intersected(sets_[next.set].set()).empty();
    if (ends || apart) code_[i].op = Op::run_hold;
  }
}

}  // namespace assay::text
