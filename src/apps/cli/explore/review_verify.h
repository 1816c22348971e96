// `assay review verify`: is the review board's history whole? The hashes of each submission's
// chain, the order of all entries, and, where a head is at hand (rules/review_head.h), that nothing
// which it saw is gone.
#pragma once

#include <string>

#include "base/result.h"
#include "store/store.h"

namespace assay::cli {

// Prints what it found; the exit code is findings where the history is not whole. `head`: a file,
// or 64 hexadecimal digits; "": the file beside the store, if there is one.
Result<int> verify_reviews(store::Store& store, const std::string& where, const std::string& head,
                           bool json);

}  // namespace assay::cli
