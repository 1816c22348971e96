// FlatMap: a map from 64-bit keys to small values, for the queries in flight. Open addressing with
// linear probing; erase() shifts the followers back, so there are no tombstones and a map that
// lives for hours stays fast. Grows by doubling and never shrinks. One thread.
//
// A pointer from find() or insert() is valid until the next insert() or erase().
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace assay {

template <typename Value>
class FlatMap {
 public:
  explicit FlatMap(std::size_t expected = 64) : slots_(std::bit_ceil(expected * 2 + 2)) {}

  std::size_t size() const { return size_; }

  Value* find(std::uint64_t key) {
    for (std::size_t i = home(key);; i = next(i)) {
      if (!slots_[i].used) return nullptr;
      if (slots_[i].key == key) return &slots_[i].value;
    }
  }

  // The key's value; adds Value{} for a key that is missing.
  Value& insert(std::uint64_t key) {
    if ((size_ + 1) * 2 > slots_.size()) grow();
    std::size_t i = home(key);
    for (; slots_[i].used; i = next(i)) {
      if (slots_[i].key == key) return slots_[i].value;
    }
    slots_[i].used = true;
    slots_[i].key = key;
    slots_[i].value = Value{};
    ++size_;
    return slots_[i].value;
  }

  void erase(std::uint64_t key) {
    std::size_t hole = home(key);
    for (;; hole = next(hole)) {
      if (!slots_[hole].used) return;
      if (slots_[hole].key == key) break;
    }
    for (std::size_t i = next(hole); slots_[i].used; i = next(i)) {
      // An entry may fill the hole unless its home lies after the hole, on its way to i.
      const std::size_t mask = slots_.size() - 1;
      if (((i - home(slots_[i].key)) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = Slot{};
    --size_;
  }

  void clear() {
    for (Slot& slot : slots_) slot = Slot{};
    size_ = 0;
  }

  // Visits in no particular order.
  template <typename Visit>
  void for_each(Visit visit) {
    for (Slot& slot : slots_) {
      if (slot.used) visit(slot.key, slot.value);
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    bool used = false;
    Value value{};
  };

  std::size_t home(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15) >> 20) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    size_ = 0;
    for (Slot& slot : old) {
      if (slot.used) insert(slot.key) = std::move(slot.value);
    }
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace assay
