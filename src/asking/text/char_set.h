// CharSet: a set of code points as sorted ranges: the meaning of a regex's [...] or \p{L}.
// CharTable: the same set with fast look-up (one load for ASCII, two for the rest). Sets are
// values; a table is immutable and any thread may use it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "text/unicode.h"

namespace assay::text {

class CharSet {
 public:
  struct Range {
    char32_t first = 0;
    char32_t last = 0;  // inclusive
  };

  CharSet() = default;
  static CharSet of(char32_t first, char32_t last);
  static CharSet categories(CategoryMask mask);
  static CharSet where(bool (*predicate)(char32_t));
  static CharSet everything() { return of(0, kCodePoints - 1); }

  void add(char32_t first, char32_t last);
  void add(const CharSet& other);
  CharSet negated() const;
  CharSet intersected(const CharSet& other) const;
  // Returns the set with the other cases of each letter (simple folding).
  CharSet case_closed() const;

  bool contains(char32_t c) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<Range>& ranges() const { return ranges_; }

 private:
  void tidy();
  std::vector<Range> ranges_{};  // ascending, with gaps between them
};

class CharTable {
 public:
  explicit CharTable(const CharSet& set);

  bool ascii(unsigned char c) const { return ascii_[c]; }
  bool contains(char32_t c) const {
    const Block& block = blocks_[index_[c >> 8]];
    return (block[(c >> 6) & 3] >> (c & 63) & 1) != 0;
  }
  // True if a character of the set can begin with this byte.
  bool may_begin(unsigned char lead) const { return lead_[lead]; }
  const CharSet& set() const { return set_; }

  // Returns the end of the run of members that begins at `at`, `chars_max` characters at most;
  // `chars` becomes its length in characters. REQUIRES: valid UTF-8.
  std::size_t run_end(std::string_view text, std::size_t at, std::uint32_t chars_max,
                      std::uint32_t& chars) const {
    std::uint32_t n = 0;
    while (at < text.size() && n < chars_max) {
      const auto byte = static_cast<unsigned char>(text[at]);
      if (byte < 0x80) {
        if (!ascii_[byte]) break;
        ++at;
      } else {
        const CodePoint c = decode_at(text, at);
        if (!contains(c.value)) break;
        at += c.bytes;
      }
      ++n;
    }
    chars = n;
    return at;
  }

 private:
  using Block = std::array<std::uint64_t, 4>;
  CharSet set_;
  std::array<bool, 128> ascii_{};
  std::array<bool, 256> lead_{};
  std::array<std::uint16_t, (kCodePoints >> 8)> index_{};
  std::vector<Block> blocks_{};
};

}  // namespace assay::text
