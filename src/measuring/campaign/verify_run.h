// verify_run checks a run folder against its event log. It computes every published figure again
// from the events, checks every file against the manifest, and, with a tokenizer, counts every
// recorded reply again. A folder of the reference client is checked as verify_reference.h says.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace assay::campaign {

struct Difference {
  std::string where{};
  std::string what{};
};

struct VerifiedRun {
  std::vector<Difference> differences{};  // empty: the folder agrees with the events
  std::uint64_t records = 0;              // of the event log
  std::vector<std::string> notes{};
  std::string counts{};    // the result of counting again; "" without a tokenizer
  bool reference = false;  // a run of the reference client; `records` are its queries
};

// `tokenizer`: a folder; "" does not count again. Fails if the folder holds no run.
Result<VerifiedRun> verify_run(const std::string& folder, const std::string& tokenizer);

}  // namespace assay::campaign
