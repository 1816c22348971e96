// `assay review verify`.
#pragma once

#include <string>

#include "base/result.h"
#include "store/store.h"

namespace assay::cli {

// Prints what explorer/verify_history.h finds; the exit code is findings where the history is not
// whole.
Result<int> verify_reviews(store::Store& store, const std::string& where, const std::string& head,
                           bool json);

}  // namespace assay::cli
