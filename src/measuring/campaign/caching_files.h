// The files of the output caching test, in audit/ of a run's or a curve's folder, under the
// reference client's names.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "metrics/caching_audit.h"

namespace assay::campaign {

inline constexpr const char* kCachingAuditFile = "audit_output_caching_test.json";
inline constexpr const char* kCachingVerifyFile = "verify_OUTPUT_CACHING_TEST.txt";
// The folders of the two phases.
constexpr const char* caching_folder(bool repeated) {
  return repeated ? "output_caching" : "reference";
}

// Writes both files, the JSON first.
Result<void> write_caching_files(const std::filesystem::path& audit_folder,
                                 const metrics::CachingAudit& audit);

}  // namespace assay::campaign
