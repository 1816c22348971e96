// ResultsStore: where a command puts what it measured, beside the folder. The store's own room
// stands beside this one, so the program hands it in.
#pragma once

#include <filesystem>
#include <functional>

#include "base/result.h"

namespace assay::campaign {

struct ResultsStore {
  // Opens the store before anything is measured, so that an error shows now.
  std::function<Result<void>()> check = [] { return Result<void>(); };
  // The last step of a measurement; empty: there is no store.
  std::function<Result<void>(const std::filesystem::path& folder)> put{};
};

}  // namespace assay::campaign
