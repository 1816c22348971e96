// What a check of a run folder against its events found: verify_run.h, verify_reference.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

}  // namespace assay::campaign
