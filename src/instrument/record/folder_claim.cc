#include "record/folder_claim.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/format.h"

namespace assay::record {

Result<FolderClaim> FolderClaim::take(const std::filesystem::path& folder) {
  TRY(make_folders(folder));
  FolderClaim claim(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (claim.fd_ < 0) return errno_error(folder.string());
  if (::flock(claim.fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return invalid(
        format("'{}': another run is being written to it\n  name another folder", folder.string()));
  }
  return claim;
}

FolderClaim::~FolderClaim() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace assay::record
