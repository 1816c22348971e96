// What commands have in common that meet the store: the flags by which `import` and `serve` are
// told what files do not say, and the way of a finished run into it.
#pragma once

#include <filesystem>

#include "base/flags.h"
#include "explorer/import.h"

namespace assay::cli {

// Before anything is measured: a store that cannot be opened is found out now. Nothing where
// `where` is "".
Result<void> check_store(const std::string& where);
// What `run --store` and `curve --store` do at their end.
Result<void> put_in_store(const std::filesystem::path& folder, const std::string& where);

void add_import_flags(Flags& flags, explorer::ImportOptions& options);
// What the flags' kinds alone do not refuse.
Result<void> check_import(const explorer::ImportOptions& options);

}  // namespace assay::cli
