// WordCache: the ids of recent words. Most words of a text are few and short, and a look-up costs
// less than any tokenizer's model.
//
// Two tables: words of up to 15 bytes and 4 ids, which nearly all are, two to a cache line; and
// those of up to 23 bytes and 10 ids, one to a line. A place is two entries of the first table (the
// older one goes) or one of the second. Longer words are not kept. One thread uses it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace assay::text {

class WordCache {
 public:
  static constexpr std::size_t kBytesMax = 23;
  static constexpr std::size_t kIdsMax = 10;

  // The word, padded with zeros, its length in the last byte of its words of eight.
  struct Key {
    std::array<std::uint64_t, 3> part;
  };

  // `readable`: how many bytes may be read from word.data() on; from kBytesMax + 1 on the key needs
  // no branch. REQUIRES: 1 to kBytesMax bytes.
  static Key key(std::string_view word, std::size_t readable) {
    const char* p = word.data();
    const std::size_t n = word.size();
    std::array<char, kBytesMax + 1> padded{};
    if (readable <= kBytesMax) {
      std::memcpy(padded.data(), p, n);
      p = padded.data();
    }
    const auto& mask = kMasks[n];
    return {{load(p) & mask[0], load(p + 8) & mask[1], load(p + 16) & mask[2]}};
  }

  // Writes the ids to `out`, which has room for kIdsMax, and returns their number: 0 when the word
  // is not cached. `length`: the word's.
  std::size_t find(const Key& word, std::size_t length, TokenId* out) const {
    if (length <= kShort) {
      const auto& two = short_[place(word) & (kShortPlaces - 1)];
      const std::uint64_t b = word.part[1] | std::uint64_t{length} << 56;
      const ShortEntry& entry = two[same(two[1], word.part[0], b) ? 1 : 0];
      if (same(entry, word.part[0], b)) {
        std::memcpy(out, entry.ids.data(), sizeof(entry.ids));
        return entry.b >> 60;
      }
    }
    const LongEntry& entry = long_[place(word) & (kLongPlaces - 1)];
    const std::uint64_t c = word.part[2] | std::uint64_t{length} << 56;
    if (entry.a != word.part[0] || entry.b != word.part[1] || entry.c != c) return 0;
    std::memcpy(out, entry.ids.data(), sizeof(entry.ids));
    return entry.count;
  }

  void keep(const Key& word, std::size_t length, std::span<const TokenId> ids) {
    if (ids.empty() || ids.size() > kIdsMax) return;
    if (length <= kShort && ids.size() <= kShortIds) {
      auto& two = short_[place(word) & (kShortPlaces - 1)];
      two[1] = two[0];
      two[0].a = word.part[0];
      two[0].b = word.part[1] | std::uint64_t{length} << 56 | std::uint64_t{ids.size()} << 60;
      std::copy(ids.begin(), ids.end(), two[0].ids.begin());
      return;
    }
    LongEntry& entry = long_[place(word) & (kLongPlaces - 1)];
    entry.a = word.part[0];
    entry.b = word.part[1];
    entry.c = word.part[2] | std::uint64_t{length} << 56;
    entry.count = static_cast<std::uint16_t>(ids.size());
    std::copy(ids.begin(), ids.end(), entry.ids.begin());
  }

 private:
  static constexpr std::size_t kShort = 15;
  static constexpr std::size_t kShortIds = 4;
  static constexpr std::size_t kShortPlaces = std::size_t{1} << 15;
  static constexpr std::size_t kLongPlaces = std::size_t{1} << 13;
  static constexpr std::uint64_t kCountBits = std::uint64_t{0xF} << 60;

  struct ShortEntry {
    std::uint64_t a = 0;
    std::uint64_t b = 0;  // the last byte: the number of ids, then the word's length
    std::array<TokenId, kShortIds> ids{};
  };
  struct LongEntry {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    std::array<TokenId, kIdsMax> ids{};
    std::uint16_t count = 0;
  };
  static bool same(const ShortEntry& entry, std::uint64_t a, std::uint64_t b) {
    return ((entry.a ^ a) | ((entry.b & ~kCountBits) ^ b)) == 0;
  }

  static std::uint64_t load(const char* p) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    return word;
  }
  static std::size_t place(const Key& key) {
    std::uint64_t hash = (key.part[0] * 0x9E3779B97F4A7C15ull) ^
                         (key.part[1] * 0x9FB21C651E98DF25ull) ^
                         (key.part[2] * 0xC2B2AE3D27D4EB4Full);
    hash = (hash ^ (hash >> 32)) * 0x9E3779B97F4A7C15ull;
    return static_cast<std::size_t>(hash >> 32);
  }

  // By length: the bits of a key's parts that belong to the word.
  static constexpr std::array<std::array<std::uint64_t, 3>, kBytesMax + 1> kMasks = [] {
    std::array<std::array<std::uint64_t, 3>, kBytesMax + 1> masks{};
    for (std::size_t n = 0; n <= kBytesMax; ++n) {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t bytes = n < 8 * i ? 0 : n - 8 * i;
        masks[n][i] = bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
      }
    }
    return masks;
  }();

  struct alignas(64) ShortPlace : std::array<ShortEntry, 2> {};
  static_assert(sizeof(ShortPlace) == 64 && sizeof(LongEntry) <= 72);
  std::vector<ShortPlace> short_ = std::vector<ShortPlace>(kShortPlaces);
  std::vector<LongEntry> long_ = std::vector<LongEntry>(kLongPlaces);
};

}  // namespace assay::text
