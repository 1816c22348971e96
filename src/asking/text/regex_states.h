// RegexStates: a compiled Regex as a table of states, for patterns whose every decision needs the
// next character at most. All patterns by which public tokenizers cut are of this kind. One look-up
// a character replaces the backtracking, and no text makes it slow.
//
// A state is the ordered list of places where the backtracking engine could be, the one that it
// tries first in front. A match cuts off the places behind it, so the answer is the engine's own:
// the first alternative, not the longest match. Assertions on the next character are decided when
// that character is read, so a state records that a match ended before the character that led to
// it. The text's characters are reduced to classes: two characters that every set of the pattern
// treats alike are one.
//
// Look-behind, word edges, groups that capture, atomic groups and large counts have no such table:
// then make() returns null and the engine does the work. A possessive run is the same as a greedy
// one where no character that it could give back can begin what follows; else there is no table.
//
// Immutable; any thread. A table is at most kEntriesMax entries of four bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/regex.h"

namespace assay::text {

class RegexStates {
 public:
  static constexpr std::size_t kNoMatch = ~std::size_t{0};
  static constexpr std::size_t kEntriesMax = std::size_t{1} << 15;

  static std::shared_ptr<const RegexStates> make(const Regex& regex);

  // Returns the end of the match that begins at `at`, or kNoMatch. `seen` becomes the end of what
  // was read. REQUIRES: valid UTF-8, `at` at a character.
  std::size_t match_at(std::string_view text, std::size_t at, std::size_t& seen) const;

  // Passes every match in `text`, and every text between two matches, to `take`, in order. Sets
  // stack.exhausted when the text needs too many steps.
  template <typename Take>
  void cut(std::string_view text, RegexStack& stack, const Take& take) const;

  // What was read behind a match's end is read again for the next one. It counts as steps, so that
  // no text takes time without limit. Returns false past the limit.
  static bool pay(std::size_t read_again, RegexStack& stack) {
    const std::uint64_t steps = read_again / 64;
    stack.exhausted = stack.exhausted || steps > stack.steps_left;
    stack.steps_left -= std::min(stack.steps_left, steps);
    return !stack.exhausted;
  }

  std::size_t states() const { return loops_.size(); }

 private:
  friend class RegexStatesMaker;
  // An entry of the table: the next state's first entry, times two, plus one if a match ended
  // before the character that was read. State 0 has no place left.
  using Entry = std::uint32_t;
  using Loop = std::array<std::uint8_t, 256>;
  static constexpr std::uint16_t kNoLoop = 0xFFFF;

  std::uint8_t class_of(char32_t c) const { return blocks_[index_[c >> 8]][c & 255]; }

  std::vector<Entry> table_{};
  unsigned shift_ = 0;    // a state has 1 << shift_ entries
  Entry start_ = 0;       // the first entry of the first state
  std::uint8_t end_ = 0;  // the class of the text's end
  std::array<std::uint8_t, 128> ascii_{};
  std::array<std::uint16_t, (kCodePoints >> 8)> index_{};
  std::vector<std::array<std::uint8_t, 256>> blocks_{};
  // By state: the ASCII characters that lead back to it, as the number of a table times two, plus
  // one if a match ended before each of them.
  std::vector<std::uint16_t> loops_{};
  std::vector<Loop> loop_tables_{};
};

inline std::size_t RegexStates::match_at(std::string_view text, std::size_t at,
                                         std::size_t& seen) const {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const std::size_t size = text.size();
  const Entry* table = table_.data();
  std::size_t last = kNoMatch;
  Entry state = start_;
  while (at < size) {
    std::uint8_t one = 0;
    std::size_t length = 1;
    if (bytes[at] < 0x80) {
      one = ascii_[bytes[at]];
    } else {
      const CodePoint c = decode_at(text, at);
      one = class_of(c.value);
      length = c.bytes;
    }
    const Entry entry = table[state + one];
    if ((entry & 1) != 0) last = at;
    state = entry >> 1;
    if (state == 0) break;
    at += length;
    const std::uint16_t loop = loops_[state >> shift_];
    if (loop == kNoLoop) continue;
    const Loop& more = loop_tables_[loop >> 1];
    const std::size_t begin = at;
    while (at < size && more[bytes[at]] != 0) ++at;
    if (at > begin && (loop & 1) != 0) last = at - 1;
  }
  if (state != 0 && (table[state + end_] & 1) != 0) last = size;
  seen = at;
  return last;
}

template <typename Take>
void RegexStates::cut(std::string_view text, RegexStack& stack, const Take& take) const {
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t seen = at;
    const std::size_t end = match_at(text, at, seen);
    if (end == kNoMatch) {
      if (!pay(seen - at, stack)) return;
      at += utf8_length(static_cast<unsigned char>(text[at]));
      continue;
    }
    if (seen - end >= 64 && !pay(seen - end, stack)) return;
    if (at > done) take(text.substr(done, at - done));
    take(text.substr(at, end - at));
    at = done = end;
  }
  if (done < text.size()) take(text.substr(done));
}

}  // namespace assay::text
