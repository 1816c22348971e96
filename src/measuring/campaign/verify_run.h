// verify_run: is a run folder what its event log comes to? Every published figure is computed again
// from the events, every file held against the manifest, and, with a tokenizer, every recorded
// reply counted again. One thread.
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
  std::vector<Difference> differences{};  // none: the folder is what the events say
  std::uint64_t records = 0;              // of the event log
  std::vector<std::string> notes{};
  std::string counts{};  // what counting again came to; "" without a tokenizer
};

// `tokenizer`: a folder; "" counts nothing again. Fails where the folder holds no run.
Result<VerifiedRun> verify_run(const std::string& folder, const std::string& tokenizer);

}  // namespace assay::campaign
