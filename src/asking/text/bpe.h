// Byte-pair encoding: merges a word's symbols pair by pair until no pair has a rank. The pair of
// lowest rank goes first, and the leftmost of equal ones.
//
// Three file formats define the ranks, and one loop serves all: tokenizer.json has a list of merges
// (rank = place in the list), a tiktoken file ranks the joined bytes (rank = id), a SentencePiece
// model scores the joined piece (rank = order by score).
//
// Short words scan for the lowest rank; long ones use a heap. There is no allocation once the
// scratch has grown. A model is immutable; one thread uses a BpeScratch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace assay::text {

struct BpeSymbol {
  TokenId id = kNoToken;
  std::uint32_t begin = 0;  // bytes of the word
  std::uint32_t end = 0;
  std::uint32_t previous = 0;
  std::uint32_t next = 0;
  bool frozen = false;  // is never merged
};
inline constexpr TokenId kMergedAway = -2;

// The token that two neighbours make, for pairs seen before: one look-up in a table that stays in
// the processor's cache, instead of two in the vocabulary's.
class PairCache {
 public:
  template <typename Compute>
  TokenId find(TokenId left, TokenId right, const Compute& compute) {
    const std::uint64_t key = (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
                               static_cast<std::uint32_t>(right)) +
                              1;
    Entry& entry = entries_[(key * 0x9E3779B97F4A7C15ull) >> (64 - kBits)];
    if (entry.key != key) entry = {key, compute()};
    return entry.joined;
  }

 private:
  static constexpr unsigned kBits = 15;
  struct Entry {
    std::uint64_t key = 0;  // of the pair, plus one; 0: free
    TokenId joined = kNoToken;
  };
  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << kBits);
};

struct BpeScratch {
  struct Candidate {
    std::uint32_t rank = 0;
    std::uint32_t at = 0;
    std::uint32_t left_end = 0;  // the end of the pair's bytes, to check that it still exists
    std::uint32_t right_end = 0;
  };
  std::vector<BpeSymbol> symbols{};
  std::vector<std::uint32_t> ranks{};
  std::vector<TokenId> merged{};
  std::vector<Candidate> heap{};
  std::string word{};
  PairCache pairs{};
};

inline constexpr std::uint32_t kNoRank = ~0u;

struct Merge {
  std::uint32_t rank = kNoRank;
  TokenId id = kNoToken;
};

// (left id, right id) -> rank and joined id.
class MergeTable {
 public:
  void reserve(std::size_t merges);
  void add(TokenId left, TokenId right, Merge merge);
  Merge find(TokenId left, TokenId right) const {
    const std::uint64_t key = pair(left, right);
    for (std::size_t i = spread(key) & mask_;; i = (i + 1) & mask_) {
      if (slots_[i].key == key) return slots_[i].merge;
      if (slots_[i].key == kFree) return {};
    }
  }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kFree;
    Merge merge{};
  };
  static std::uint64_t pair(TokenId left, TokenId right) {
    return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32) |
           static_cast<std::uint32_t>(right);
  }
  static std::size_t spread(std::uint64_t key) {
    key *= 0x9E3779B97F4A7C15ull;
    return static_cast<std::size_t>(key ^ (key >> 32));
  }
  std::vector<Slot> slots_{1};
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

// The "BPE" model of tokenizer.json.
struct BpeModel {
  Vocabulary vocabulary{};
  MergeTable merges{};
  TokenId unknown = kNoToken;  // kNoToken: characters without a token are dropped
  std::string prefix{};        // continuing_subword_prefix
  std::string suffix{};        // end_of_word_suffix
  bool fuse_unknown = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
  // The pre-tokenizer ends with ByteLevel: a word is raw bytes, `vocabulary` holds the spelling in
  // ByteLevel's alphabet, `words` and `byte_ids` the bytes.
  bool byte_level = false;
  Vocabulary words{};
  std::array<TokenId, 256> byte_ids{};  // a byte's token: ByteLevel's, or <0x..> for the fallback
  bool all_bytes = false;               // <0x00> … <0xFF> all exist
  std::array<TokenId, 128> ascii_ids{};
  // No merge crosses the start of a run of U+2581. So a text may be cut there, and the word cache
  // can keep the pieces.
  bool cut_at_marker = false;

  void encode(std::string_view word, BpeScratch& scratch, std::vector<TokenId>& out) const;
  // Computes the tables from `vocabulary`. Call it once, after the fields above are set.
  void finish();

 private:
  void start_bytes(std::string_view word, BpeScratch& scratch) const;
  void start_characters(std::string_view word, BpeScratch& scratch) const;
};

// Merges scratch.symbols (fills `previous` and `next`) and passes the remaining ones to `emit`, in
// order. `merge_of(left, right)` returns the merge of two neighbours.
template <typename MergeOf, typename Emit>
void merge_symbols(BpeScratch& scratch, const MergeOf& merge_of, const Emit& emit);

// Maps a byte to GPT-2's alphabet of 256 printable characters ("Ġ").
char32_t byte_to_char(unsigned char byte);
// Returns -1 when the character is not in that alphabet.
int char_to_byte(char32_t c);
// Converts text to that alphabet and back; back returns false for other characters.
void append_byte_level(std::string& out, std::string_view bytes);
bool append_from_byte_level(std::string& out, std::string_view text);

// --- implementation of the template ---

template <typename MergeOf>
void merge_short(BpeScratch& scratch, const MergeOf& merge_of) {
  auto& symbols = scratch.symbols;
  auto& ranks = scratch.ranks;
  auto& merged = scratch.merged;
  std::size_t n = symbols.size();
  ranks.resize(n);
  merged.resize(n);
  const auto rate = [&](std::size_t i) {
    const Merge merge = merge_of(symbols[i], symbols[i + 1]);
    ranks[i] = merge.rank;
    merged[i] = merge.id;
  };
  for (std::size_t i = 0; i + 1 < n; ++i) rate(i);
  while (n > 1) {
    std::uint32_t lowest = kNoRank;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (ranks[i] < lowest) {
        lowest = ranks[i];
        at = i;
      }
    }
    if (lowest == kNoRank) break;
    symbols[at].id = merged[at];
    symbols[at].end = symbols[at + 1].end;
    for (std::size_t i = at + 1; i + 1 < n; ++i) {
      symbols[i] = symbols[i + 1];
      ranks[i] = ranks[i + 1];
      merged[i] = merged[i + 1];
    }
    --n;
    if (at > 0) rate(at - 1);
    if (at + 1 < n) rate(at);
  }
  symbols.resize(n);
}

template <typename MergeOf, typename Emit>
void merge_long(BpeScratch& scratch, const MergeOf& merge_of, const Emit& emit) {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  const auto n = static_cast<std::uint32_t>(symbols.size());
  using Candidate = BpeScratch::Candidate;
  const auto later = [](const Candidate& a, const Candidate& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  };
  heap.clear();
  const auto consider = [&](std::uint32_t left, bool push) {
    const std::uint32_t right = symbols[left].next;
    if (right >= n) return;
    const Merge merge = merge_of(symbols[left], symbols[right]);
    if (merge.rank == kNoRank) return;
    heap.push_back({merge.rank, left, symbols[left].end, symbols[right].end});
    if (push) std::push_heap(heap.begin(), heap.end(), later);
  };
  for (std::uint32_t i = 0; i < n; ++i) {
    symbols[i].previous = i - 1;  // wraps for the first
    symbols[i].next = i + 1;
  }
  for (std::uint32_t i = 0; i + 1 < n; ++i) consider(i, false);
  std::make_heap(heap.begin(), heap.end(), later);
  while (!heap.empty()) {
    const Candidate top = heap.front();
    std::pop_heap(heap.begin(), heap.end(), later);
    heap.pop_back();
    BpeSymbol& left = symbols[top.at];
    if (left.id == kMergedAway || left.end != top.left_end || left.next >= n) continue;
    BpeSymbol& right = symbols[left.next];
    if (right.end != top.right_end) continue;
    const Merge merge = merge_of(left, right);
    if (merge.rank != top.rank) continue;
    left.id = merge.id;
    left.end = right.end;
    right.id = kMergedAway;
    left.next = right.next;
    if (left.next < n) symbols[left.next].previous = top.at;
    if (left.previous < n) consider(left.previous, true);
    consider(top.at, true);
  }
  for (std::uint32_t i = 0; i < n; i = symbols[i].next) emit(symbols[i]);
}

template <typename MergeOf, typename Emit>
void merge_symbols(BpeScratch& scratch, const MergeOf& merge_of, const Emit& emit) {
  constexpr std::size_t kShort = 48;
  if (scratch.symbols.size() > kShort) {
    merge_long(scratch, merge_of, emit);
    return;
  }
  merge_short(scratch, merge_of);
  for (const BpeSymbol& symbol : scratch.symbols) emit(symbol);
}

}  // namespace assay::text
