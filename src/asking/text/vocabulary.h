// Vocabulary: token strings and their ids, both ways. One allocation for all bytes; look-up by open
// addressing. Built once, then immutable and safe from any thread.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace assay::text {

using TokenId = std::int32_t;
inline constexpr TokenId kNoToken = -1;
// U+2581 replaces a space in SentencePiece's vocabularies.
inline constexpr std::string_view kSpaceMarker = "\xE2\x96\x81";
// Far above every public vocabulary; a file with a greater id is broken.
inline constexpr std::int64_t kTokenIdMax = (std::int64_t{1} << 24) - 1;

// A hash for short keys: eight bytes at a time through one multiplication. Not for untrusted tables
// that grow without limit; here a table is as large as the file that fills it.
inline std::uint64_t hash_bytes(std::string_view bytes) {
  constexpr std::uint64_t kMultiplier = 0x9FB21C651E98DF25ull;
  std::uint64_t hash = bytes.size() * 0x9E3779B97F4A7C15ull;
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 35;
  };
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    mix(word);
  }
  if (left > 0) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, left);
    mix(word);
  }
  hash *= kMultiplier;
  return hash ^ (hash >> 32);
}

class Vocabulary {
 public:
  void reserve(std::size_t tokens, std::size_t bytes);
  // A token added again gets the new id. REQUIRES: 0 <= id <= kTokenIdMax, token.size() < 2^32.
  void add(std::string_view token, TokenId id);

  TokenId find(std::string_view token) const;
  // Returns "" when there is no such id; has() distinguishes it from the empty token.
  std::string_view token(TokenId id) const;
  bool has(TokenId id) const;
  // Number of distinct tokens; ids may have gaps.
  std::size_t size() const { return size_; }
  // The greatest id + 1.
  std::size_t id_end() const { return by_id_.size(); }
  std::size_t longest() const { return longest_; }

 private:
  struct Slot {
    std::uint32_t tag = 0;  // upper half of the hash
    TokenId id = kNoToken;
    std::uint32_t begin = 0;
    std::uint32_t length = 0;
  };
  struct Piece {
    std::uint32_t begin = 0;
    std::uint32_t length = ~0u;
  };
  void grow();
  std::string_view bytes(std::uint32_t begin, std::uint32_t length) const {
    return {bytes_.data() + begin, length};
  }

  std::string bytes_{};
  std::vector<Slot> slots_{};
  std::vector<Piece> by_id_{};
  std::size_t size_ = 0;
  std::size_t longest_ = 0;
};

// ByteTrie: the common prefixes of a set of strings; for longest matches and lattices. Nodes are
// entries of one hash table with the key (parent, byte).
class ByteTrie {
 public:
  static constexpr std::uint32_t kRoot = 0;
  static constexpr std::uint32_t kNone = ~0u;

  ByteTrie();
  void add(std::string_view key, std::int32_t value);
  std::uint32_t child(std::uint32_t node, unsigned char byte) const {
    if (node == kRoot) return first_[byte];
    const std::uint64_t key = (std::uint64_t{node} << 8) | byte;
    for (std::size_t i = spread(key) & mask_;; i = (i + 1) & mask_) {
      if (edges_[i].key == key) return edges_[i].node;
      if (edges_[i].key == kFree) return kNone;
    }
  }
  // Returns -1 when no key ends here.
  std::int32_t value(std::uint32_t node) const { return values_[node]; }
  bool empty() const { return values_.size() == 1; }
  bool begins(unsigned char byte) const { return first_[byte] != kNone; }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Edge {
    std::uint64_t key = kFree;
    std::uint32_t node = kNone;
  };
  static std::size_t spread(std::uint64_t key) {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ull) >> 24);
  }
  void insert(std::uint64_t key, std::uint32_t node);

  std::vector<Edge> edges_{};
  std::size_t mask_ = 0;
  std::vector<std::int32_t> values_{};
  std::vector<std::uint32_t> first_{};
};

}  // namespace assay::text
