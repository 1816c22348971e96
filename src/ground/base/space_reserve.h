// SpaceReserve: room on a disk that is held while something grows there, so that its end can still
// be written when it has filled the disk. A file without a name: whatever ends the program frees
// it.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"

namespace assay {

class SpaceReserve {
 public:
  // An error (Code::exhausted) where the disk has not so much room. A file system that cannot hold
  // room, or a limit on the size of files that is smaller, gives a reserve of nothing.
  // REQUIRES: `folder` exists.
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
