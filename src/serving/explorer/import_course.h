// Results of any kind put into a store, from paths to words: `assay import`, and the last step of
// `--store` of the commands that measure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/talk.h"
#include "explorer/import.h"

namespace assay::explorer {

struct ImportAsked {
  std::vector<std::string> paths{};
  std::string store{};
  ImportOptions options{};
  bool json = false;
};

// Opens the store before anything is measured, so that an error shows now. Does nothing where
// `where` is "".
Result<void> check_store(const std::string& where);
// The last step of `run --store` and `curve --store`.
Result<void> put_in_store(const std::filesystem::path& folder, const std::string& where,
                          const Talk& talk);
// Checks what the flags' types can't.
Result<void> check_import(const ImportOptions& options);
// Returns the exit code.
Result<int> import_all(const ImportAsked& asked, const Talk& talk);

}  // namespace assay::explorer
