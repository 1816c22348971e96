// Another tool's results as a run, or several of the reference client's as a curve: read, written
// into a new folder, published. `assay convert` is its command.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"

namespace assay::campaign {

struct ConvertOptions {
  std::vector<std::string> files{};  // and last the folder to make
  std::string from = "auto";
  // Facts from the user that the file lacks or has wrong.
  std::string model{};
  std::string api{};
  std::optional<double> rate{};
  std::optional<std::uint64_t> concurrency{};
  bool json = false;
};

// `args`: the command's own, for the manifest. Returns the exit code.
Result<int> convert(ConvertOptions options, std::span<const std::string> args, const Talk& talk);

}  // namespace assay::campaign
