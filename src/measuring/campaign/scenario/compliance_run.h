// The compliance tests over run folders (loadgen/compliance.h has the rules): which of a run's
// answers its LoadGen settings log, and the verification files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "audit/loaded_run.h"
#include "base/result.h"
#include "loadgen/compliance.h"

namespace assay::campaign {

struct ComplianceWish {
  std::string test{};
  // Asked with the test's audit.config. TEST06, TEST08, TEST09: or a folder of LoadGen's logs.
  std::filesystem::path run{};
  std::filesystem::path reference{};  // TEST01, TEST04: the run without it
  std::filesystem::path accuracy{};   // TEST01, TEST08: a run with the accuracy phase, or a log
  std::string eos{};
  std::uint64_t eos_id = 2;  // TEST06 of a LoadGen log
  std::string tokenizer{};   // TEST06, TEST09: counts the answers; "" takes the run's own count
  loadgen::LengthLimits length{};
};

// One verdict for each file that the test leaves. Fails where a folder lacks what the test needs.
Result<std::vector<loadgen::ComplianceVerdict>> check_compliance(const ComplianceWish& wish);

// Writes each verdict's file into `folder`.
Result<void> write_verdicts(const std::vector<loadgen::ComplianceVerdict>& verdicts,
                            const std::filesystem::path& folder);

}  // namespace assay::campaign
