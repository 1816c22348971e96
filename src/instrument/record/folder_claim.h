// FolderClaim: reserves a folder for this process's run, until the claim or the process ends. Two
// runs in one folder would mix into a run that never happened.
//
// It is a lock on the folder itself (flock): it leaves no file behind, however the process ends.
// Where the file system has no locks, there is no claim. Any thread.
#pragma once

#include <filesystem>
#include <utility>

#include "base/result.h"

namespace assay::record {

class FolderClaim {
 public:
  // Makes a missing folder. Code::invalid_argument where another process has it.
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
