// OpenQueries: a record for each query in flight, by query_key(). A record is used again by a later
// query, with the memory that it has; as many are made as queries were in flight at once. One
// thread.
//
// A reference is valid until the next open().
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.h"

namespace assay {

template <typename Open>
class OpenQueries {
 public:
  explicit OpenQueries(std::size_t expected) : places_(expected) {}

  // The query's record. A query without one gets one that `clear` has emptied.
  template <typename Clear>
  Open& open(std::uint64_t key, const Clear& clear) {
    if (const std::uint32_t* const found = places_.find(key)) return records_[*found];
    if (spare_.empty()) {
      spare_.push_back(static_cast<std::uint32_t>(records_.size()));
      records_.emplace_back();
    }
    places_.insert(key) = spare_.back();
    Open& fresh = records_[spare_.back()];
    spare_.pop_back();
    clear(fresh);
    return fresh;
  }

  // Nothing for a query that has none.
  void close(std::uint64_t key) {
    const std::uint32_t* const found = places_.find(key);
    if (found == nullptr) return;
    spare_.push_back(*found);
    places_.erase(key);
  }

  // act(key, record) for each that is open.
  template <typename Act>
  void for_each(const Act& act) {
    places_.for_each([&](std::uint64_t key, std::uint32_t place) { act(key, records_[place]); });
  }

 private:
  FlatMap<std::uint32_t> places_;
  std::vector<Open> records_{};
  std::vector<std::uint32_t> spare_{};
};

}  // namespace assay
