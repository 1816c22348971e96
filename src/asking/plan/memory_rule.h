// settings.client.memory_max: what replies may hold in memory, all connections of a run together.
// Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace assay::plan {

struct MemoryRule {
  // The least that makes sense: a reply has to fit somewhere.
  static constexpr std::uint64_t kLeastBytes = std::uint64_t{1} << 20;

  std::uint64_t bytes = 0;  // 0: a share of what this process may use
  double share = 0.25;
};

// "512M", "2GiB", "800000000", "25%"; "" is a quarter. An error where it is none of these, or less
// than kLeastBytes.
Result<MemoryRule> memory_rule(std::string_view text);

// `usable`: what this process may use, 0 where that is not known; then a share is of 4 GiB.
std::uint64_t memory_bytes(const MemoryRule& rule, std::uint64_t usable);

}  // namespace assay::plan
