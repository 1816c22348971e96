// settings.client.memory_max: memory for replies, all connections of a run together. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace assay::plan {

struct MemoryRule {
  // The least value allowed: a reply must fit.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

  std::uint64_t bytes = 0;  // 0: a share of the memory that this process may use
  double share = 0.25;
};

// Parses "512M", "2GiB", "800000000", "25%"; "" is a quarter. Fails for any other text, and below
// kLeastBytes.
Result<MemoryRule> memory_rule(std::string_view text);

// `usable`: memory that this process may use; 0 if unknown: then a share is of 4 GiB.
std::uint64_t memory_bytes(const MemoryRule& rule, std::uint64_t usable);

}  // namespace assay::plan
