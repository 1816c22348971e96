// Two endpoints measured in one run, in blocks of queries in random order, with a run folder for
// each, and compared by pairs of blocks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/talk.h"
#include "campaign/compare_course.h"
#include "campaign/recorded_run.h"
#include "campaign/run_settings.h"

namespace assay::campaign {

struct InterleavedOptions {
  bool interleave = false;
  bool quiet = false;
  std::uint64_t order_seed = 1;
  std::optional<std::uint64_t> block{};
  ClientOptions client{};
  CompareAsked compare{};
};

// `args`: the command's own, for the manifest. Returns the exit code.
Result<int> measure_interleaved(RunSettings& settings, InterleavedOptions typed,
                                std::span<const std::string> args, const Talk& talk);

}  // namespace assay::campaign
