#include "text/vocabulary.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace assay::text {
namespace {

// Without a call for the short ones, which nearly all are.
bool equal(const char* a, const char* b, std::size_t n) {
  const auto differ = [a, b]<typename Word>(std::size_t at, Word x) {
    Word y = 0;
    std::memcpy(&x, a + at, sizeof(Word));
    std::memcpy(&y, b + at, sizeof(Word));
    return x ^ y;
  };
  if (n > 16) return std::memcmp(a, b, n) == 0;
  if (n >= 8) return (differ(0, std::uint64_t{}) | differ(n - 8, std::uint64_t{})) == 0;
  if (n >= 4) return (differ(0, std::uint32_t{}) | differ(n - 4, std::uint32_t{})) == 0;
  return n == 0 || (a[0] == b[0] && a[n / 2] == b[n / 2] && a[n - 1] == b[n - 1]);
}

}  // namespace

void Vocabulary::reserve(std::size_t tokens, std::size_t bytes) {
  bytes_.reserve(bytes);
  by_id_.reserve(tokens);
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(16, tokens * 2));
  if (slots > slots_.size() && size_ == 0) slots_.assign(slots, Slot{});
}

void Vocabulary::grow() {
  std::vector<Slot> old(std::max<std::size_t>(16, slots_.size() * 2));
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == kNoToken) continue;
    const std::uint64_t hash = hash_bytes(bytes(slot.begin, slot.length));
    std::size_t i = static_cast<std::size_t>(hash) & mask;
    while (slots_[i].id != kNoToken) i = (i + 1) & mask;
    slots_[i] = slot;
  }
}

void Vocabulary::add(std::string_view token, TokenId id) {
  CHECK(id >= 0 && id <= kTokenIdMax && bytes_.size() + token.size() < (std::size_t{1} << 32));
  if ((size_ + 1) * 2 > slots_.size()) grow();
  const auto begin = static_cast<std::uint32_t>(bytes_.size());
  const auto length = static_cast<std::uint32_t>(token.size());
  bytes_.append(token);
  longest_ = std::max(longest_, token.size());
  if (by_id_.size() <= static_cast<std::size_t>(id))
    by_id_.resize(static_cast<std::size_t>(id) + 1);
  by_id_[static_cast<std::size_t>(id)] = {begin, length};

  const std::uint64_t hash = hash_bytes(token);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = static_cast<std::size_t>(hash) & mask;
  for (; slots_[i].id != kNoToken; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.tag == tag && bytes(slot.begin, slot.length) == token) {
      slots_[i].id = id;
      return;
    }
  }
  slots_[i] = {tag, id, begin, length};
  ++size_;
}

TokenId Vocabulary::find(std::string_view token) const {
  if (slots_.empty() || token.size() > longest_) return kNoToken;
  const std::uint64_t hash = hash_bytes(token);
  const auto tag = static_cast<std::uint32_t>(hash >> 32);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = static_cast<std::size_t>(hash) & mask;; i = (i + 1) & mask) {
    const Slot& slot = slots_[i];
    if (slot.id == kNoToken) return kNoToken;
    if (slot.tag == tag && slot.length == token.size() &&
        equal(bytes_.data() + slot.begin, token.data(), token.size())) {
      return slot.id;
    }
  }
}

bool Vocabulary::has(TokenId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < by_id_.size() &&
         by_id_[static_cast<std::size_t>(id)].length != ~0u;
}

std::string_view Vocabulary::token(TokenId id) const {
  if (!has(id)) return {};
  const Piece& piece = by_id_[static_cast<std::size_t>(id)];
  return bytes(piece.begin, piece.length);
}

ByteTrie::ByteTrie() : edges_(16), mask_(15), values_{-1}, first_(256, kNone) {}

void ByteTrie::insert(std::uint64_t key, std::uint32_t node) {
  std::size_t i = spread(key) & mask_;
  while (edges_[i].key != kFree) i = (i + 1) & mask_;
  edges_[i] = {key, node};
}

void ByteTrie::add(std::string_view key, std::int32_t value) {
  std::uint32_t node = kRoot;
  for (const char c : key) {
    const auto byte = static_cast<unsigned char>(c);
    std::uint32_t next = child(node, byte);
    if (next == kNone) {
      next = static_cast<std::uint32_t>(values_.size());
      values_.push_back(-1);
      if (node == kRoot) {
        first_[byte] = next;
      } else {
        if (values_.size() * 2 > edges_.size()) {
          std::vector<Edge> old(edges_.size() * 2);
          old.swap(edges_);
          mask_ = edges_.size() - 1;
          for (const Edge& edge : old) {
            if (edge.key != kFree) insert(edge.key, edge.node);
          }
        }
        insert((std::uint64_t{node} << 8) | byte, next);
      }
    }
    node = next;
  }
  values_[node] = value;
}

}  // namespace assay::text
