// Shared by commands that use the store: flags of `import` and `serve` for facts that the files
// lack, and putting a finished run into the store.
#pragma once

#include <string>

#include "base/flags.h"
#include "campaign/results_store.h"
#include "explorer/import.h"

namespace assay::cli {

// The store of --store, for a course that measures.
campaign::ResultsStore make_store(const std::string& where);

void add_import_flags(Flags& flags, explorer::ImportOptions& options);
}  // namespace assay::cli
