// The store of `assay serve PATH` without --store: a file of its own, which ends with the server.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "explorer/import.h"

namespace assay::explorer {

class PassingStore {
 public:
  ~PassingStore();
  std::string make();

 private:
  std::string path_{};
};

// Reads the paths into the store at `where`; notes about them go to `talk`.
Result<void> import_paths(const std::vector<std::string>& paths, const ImportOptions& options,
                          const std::string& where, const Talk& talk);

}  // namespace assay::explorer
