// Is the review board's history whole? The hashes of each submission's chain, the order of all
// entries, and, where a head is at hand (rules/review_head.h), that nothing which it saw is gone.
// One thread.
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
  std::vector<std::string> broken{};    // submissions whose chain does not hold
  std::vector<std::string> problems{};  // for a person; none: the history is whole
  rules::ReviewHead now{};
  std::optional<std::string> anchor{};  // the head that it was held against, by name
  std::optional<std::int64_t> since{};  // entries appended since that head, where it holds
};

// `where`: the store, as the user named it. `head`: a file, or 64 hexadecimal digits; "": the file
// beside the store, if there is one.
Result<VerifiedHistory> verify_history(store::Store& store, const std::string& where,
                                       const std::string& head);

}  // namespace assay::explorer
