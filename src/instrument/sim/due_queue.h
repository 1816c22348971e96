// DueQueue: entries with a due instant, earliest first, equal ones in the order of insertion.
//
// It has two lanes. Equal delays (the common case: a fixed ITL, or none) come in ascending order
// and go to the end of a ring in constant time; entries out of order go to a heap. So a queue of
// ten thousand streams with a fixed gap costs some nanoseconds an event, and one with random gaps
// costs as much as a heap. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/check.h"
#include "base/time.h"

namespace assay::sim {

class DueQueue {
 public:
  struct Entry {
    Instant at{};
    std::uint64_t order = 0;
    std::uint32_t slot = 0;
    std::uint32_t generation = 0;
  };

  bool empty() const { return count_ == 0 && heap_.empty(); }
  std::size_t size() const { return count_ + heap_.size(); }

  void push(Instant at, std::uint32_t slot, std::uint32_t generation) {
    const Entry entry{at, order_++, slot, generation};
    if (count_ == 0 || !(at < ring_[index(count_ - 1)].at)) {
      if (count_ == ring_.size()) grow();
      ring_[index(count_++)] = entry;
    } else {
      heap_.push_back(entry);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  // REQUIRES: !empty().
  const Entry& front() const { return ring_is_first() ? ring_[first_] : heap_.front(); }
  void pop() {
    CHECK(!empty());
    if (ring_is_first()) {
      first_ = (first_ + 1) & (ring_.size() - 1);
      --count_;
    } else {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
  }

 private:
  static bool later(const Entry& a, const Entry& b) {
    return b.at < a.at || (b.at == a.at && b.order < a.order);
  }
  bool ring_is_first() const {
    return heap_.empty() || (count_ > 0 && later(heap_.front(), ring_[first_]));
  }
  std::size_t index(std::size_t i) const { return (first_ + i) & (ring_.size() - 1); }
  void grow() {
    std::vector<Entry> larger(ring_.size() * 2);
    for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[index(i)];
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Entry> ring_ = std::vector<Entry>(16);  // its size is a power of two
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::vector<Entry> heap_{};
  std::uint64_t order_ = 0;
};

}  // namespace assay::sim
