#include "sim/kv_cache.h"

#include "base/check.h"

namespace assay::sim {

std::size_t PrefixCache::match(std::span<const std::uint64_t> blocks) const {
  std::size_t count = 0;
  while (count < blocks.size() && blocks_.contains(blocks[count])) ++count;
  return count;
}

void PrefixCache::acquire(std::span<const std::uint64_t> blocks, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = blocks_.find(blocks[i]);
    CHECK(at != blocks_.end());
    if (at->second.holders++ == 0) free_.erase(at->second.place);
  }
}

void PrefixCache::insert(std::span<const std::uint64_t> blocks, std::size_t from) {
  for (std::size_t i = from; i < blocks.size(); ++i) {
    Block& block = blocks_.try_emplace(blocks[i], Block{0, free_.end()}).first->second;
    if (block.holders == 0 && block.place != free_.end()) free_.erase(block.place);
    block.place = free_.end();
    ++block.holders;
  }
}

void PrefixCache::release(std::span<const std::uint64_t> blocks, std::size_t count) {
  for (std::size_t i = count; i-- > 0;) {
    const auto at = blocks_.find(blocks[i]);
    CHECK(at != blocks_.end() && at->second.holders > 0);
    if (--at->second.holders > 0) continue;
    free_.push_back(blocks[i]);
    at->second.place = std::prev(free_.end());
  }
}

void PrefixCache::trim(std::size_t free_max) {
  while (free_.size() > free_max) {
    blocks_.erase(free_.front());
    free_.pop_front();
  }
}

}  // namespace assay::sim
