// WordCache: the ids of recent words. Most words of a text are few and short, and a look-up costs
// less than any tokenizer's model. Direct-mapped; one entry is one cache line; words of more than
// kBytesMax bytes or kIdsMax tokens are not kept. One thread uses it.
#pragma once

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
  static constexpr std::size_t kIdsMax = 9;

  struct Key {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::uint64_t c = 0;
    bool operator==(const Key&) const = default;
  };
  // The padded word, with its length in the last byte. REQUIRES: 1 to kBytesMax bytes.
  static Key key(std::string_view word) {
    const char* p = word.data();
    const std::size_t n = word.size();
    Key made{0, 0, std::uint64_t{n} << 56};
    if (n >= 16) {
      made.a = load(p);
      made.b = load(p + 8);
      if (n > 16) made.c |= load(p + n - 8) >> (8 * (24 - n));
    } else if (n >= 8) {
      made.a = load(p);
      if (n > 8) made.b = load(p + n - 8) >> (8 * (16 - n));
    } else if (n >= 4) {
      made.a = load4(p) | (load4(p + n - 4) << (8 * (n - 4)));
    } else {
      const auto byte = [p](std::size_t i) {
        return static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
      };
      made.a = byte(0) | byte(n / 2) | byte(n - 1);
    }
    return made;
  }

  // Returns the ids; empty when the word is not cached. A cached word always has ids.
  std::span<const TokenId> find(const Key& word) const {
    const Entry& entry = entries_[place(word)];
    if (!(entry.key == word)) return {};
    return {entry.ids.data(), entry.count};
  }
  void keep(const Key& word, std::span<const TokenId> ids) {
    if (ids.empty() || ids.size() > kIdsMax) return;
    Entry& entry = entries_[place(word)];
    entry.key = word;
    entry.count = static_cast<std::uint32_t>(ids.size());
    std::memcpy(entry.ids.data(), ids.data(), ids.size_bytes());
  }

 private:
  static constexpr std::size_t kEntries = std::size_t{1} << 15;
  struct alignas(64) Entry {
    Key key{};
    std::uint32_t count = 0;
    std::array<TokenId, kIdsMax> ids{};
  };
  static_assert(sizeof(Entry) == 64);

  static std::uint64_t load(const char* p) {
    std::uint64_t word = 0;
    std::memcpy(&word, p, 8);
    return word;
  }
  static std::uint64_t load4(const char* p) {
    std::uint32_t word = 0;
    std::memcpy(&word, p, 4);
    return word;
  }
  static std::size_t place(const Key& key) {
    std::uint64_t hash = key.a * 0x9E3779B97F4A7C15ull;
    hash ^= (key.b + (hash >> 32)) * 0x9FB21C651E98DF25ull;
    hash ^= (key.c + (hash >> 29)) * 0xC2B2AE3D27D4EB4Full;
    return static_cast<std::size_t>(hash >> 49);
  }
  static_assert(kEntries == std::size_t{1} << (64 - 49));

  std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

}  // namespace assay::text
