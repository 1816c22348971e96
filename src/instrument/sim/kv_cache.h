// PrefixCache: KV blocks of prompts that can be shared: reference counts, and a least-recently-
// used list of free blocks that can still be hit (vLLM's free queue).
//
// A block's key is the hash of everything up to its end, so equal hashes mean equal prefixes.
// Blocks with generated tokens, or with the odd tokens at a prompt's end, are not shared; only
// their owner counts them (sim/worker.h). One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace assay::sim {

class PrefixCache {
 public:
  // How many leading blocks of the prompt are cached, held or free. Changes nothing.
  std::size_t match(std::span<const std::uint64_t> blocks) const;

  // Takes the leading `count` blocks, which must be cached, for one more sequence.
  void acquire(std::span<const std::uint64_t> blocks, std::size_t count);
  // A sequence has computed blocks [from, end): they are now cached and held by it. It shares a
  // block that another sequence has added meanwhile.
  void insert(std::span<const std::uint64_t> blocks, std::size_t from);
  // A sequence releases its leading `count` blocks; the tail is evicted first.
  void release(std::span<const std::uint64_t> blocks, std::size_t count);
  // Evicts free blocks, oldest first, until at most `free_max` are left.
  void trim(std::size_t free_max);

  std::size_t held() const { return blocks_.size() - free_.size(); }

 private:
  struct Block {
    std::uint32_t holders = 0;
    std::list<std::uint64_t>::iterator place{};  // in free_, when holders == 0
  };
  std::unordered_map<std::uint64_t, Block> blocks_{};
  std::list<std::uint64_t> free_{};  // front is evicted first
};

}  // namespace assay::sim
