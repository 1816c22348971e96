// The ranks of a run started on many hosts, from what was asked to the merged result: once, or at
// each level of a curve. `assay launch` is its command.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "ranks/launch.h"

namespace assay::campaign {

struct LaunchOptions {
  ranks::LaunchSpec spec{};
  std::string hosts{};
  std::string levels{};
  std::uint64_t ranks = 0;
  std::uint64_t port = 7077;
  bool dry_run = false;
  bool json = false;
};

// Shows what would be started, or starts it and waits. Returns the exit code.
Result<int> launch_ranks(LaunchOptions options, const Talk& talk);

}  // namespace assay::campaign
