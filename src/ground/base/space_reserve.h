// SpaceReserve: disk space held while a file grows, so that the file's end can still be written
// after the disk is full. It is a file without a name: the system frees it when the program ends.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace assay {

class SpaceReserve {
 public:
  // Fails (Code::exhausted) where the disk has less than `bytes` free. Where the file system cannot
  // reserve space, or the limit on file sizes is smaller, the reserve is empty. REQUIRES: `folder`
  // exists.
  static Result<SpaceReserve> hold(const std::filesystem::path& folder, std::uint64_t bytes);
  SpaceReserve() = default;
  SpaceReserve(SpaceReserve&& other) noexcept;
  SpaceReserve& operator=(SpaceReserve&& other) noexcept;
  ~SpaceReserve();

  void release();

 private:
  int fd_ = -1;
};

}  // namespace assay
