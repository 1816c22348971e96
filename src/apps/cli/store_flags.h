// Shared by commands that use the store: flags of `import` and `serve` for facts that the files
// lack, and putting a finished run into the store.
#pragma once

#include <filesystem>

#include "base/flags.h"
#include "explorer/import.h"

namespace assay::cli {

// Opens the store before anything is measured, so that an error shows now. Does nothing where
// `where` is "".
Result<void> check_store(const std::string& where);
// The last step of `run --store` and `curve --store`.
Result<void> put_in_store(const std::filesystem::path& folder, const std::string& where);

void add_import_flags(Flags& flags, explorer::ImportOptions& options);
// Checks what the flags' types can't.
Result<void> check_import(const explorer::ImportOptions& options);

}  // namespace assay::cli
