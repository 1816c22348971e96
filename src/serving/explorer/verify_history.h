// Verifies the review board's history: the hashes of each submission's chain, the order of all
// entries, and, given a head (rules/review_head.h), that no entry under it is missing. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rules/review_head.h"
#include "store/store.h"

namespace assay::explorer {

struct VerifiedHistory {
  std::int64_t submissions = 0;
  std::size_t entries = 0;
  std::vector<std::string> broken{};    // submissions with a broken chain
  std::vector<std::string> problems{};  // for a person; empty: the history is whole
  rules::ReviewHead now{};
  std::optional<std::string> anchor{};  // name of the head it was checked against
  std::optional<std::int64_t> since{};  // entries appended since that head, if it holds
};

// `where`: the store, as the user named it. `head`: a file, or 64 hexadecimal digits; "": the file
// beside the store, if any.
Result<VerifiedHistory> verify_history(store::Store& store, const std::string& where,
                                       const std::string& head);

}  // namespace assay::explorer
