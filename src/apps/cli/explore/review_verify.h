// `assay review verify`.
#pragma once

#include <string>

#include "base/result.h"
#include "store/store.h"

namespace assay::cli {

// Prints the findings of explorer/verify_history.h; the exit code is "findings" where the history
// is damaged.
Result<int> verify_reviews(store::Store& store, const std::string& where, const std::string& head,
                           bool json);

}  // namespace assay::cli
