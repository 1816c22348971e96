// FolderClaim: that a folder is this process's to write a run into, until the claim ends or the
// process does. Two runs into one folder would be one that nobody made.
//
// A lock on the folder itself (flock): it leaves nothing behind, whatever ends the process. Where
// the file system knows no locks there is none. Any thread.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace assay::record {

class FolderClaim {
 public:
  // Makes the folder where it is missing. Code::invalid_argument where another process has it.
  static Result<FolderClaim> take(const std::filesystem::path& folder);

  FolderClaim(FolderClaim&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FolderClaim& operator=(FolderClaim&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FolderClaim();

 private:
  explicit FolderClaim(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace assay::record
