#include "campaign/caching_files.h"

#include "base/files.h"
#include "base/format.h"

namespace assay::campaign {

Result<void> write_caching_files(const std::filesystem::path& audit_folder,
                                 const metrics::CachingAudit& audit) {
  TRY(write_file_atomic(audit_folder / kCachingAuditFile,
                        metrics::caching_json(audit).dump(2) + "\n"));
  return write_file_atomic(audit_folder / kCachingVerifyFile,
                           format("Performance check pass: {}\n", audit.passed ? "True" : "False"));
}

}  // namespace assay::campaign
