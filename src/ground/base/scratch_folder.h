// A new folder below the system's temporary folder; the destructor removes it with its content.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/result.h"

namespace assay {

class ScratchFolder {
 public:
  // `purpose` becomes part of the name. Fails where no folder can be made.
  static Result<ScratchFolder> make(std::string_view purpose) {
    std::error_code ignored;
    const std::filesystem::path below = std::filesystem::temp_directory_path(ignored);
    std::string name = (below / format("assay-{}-XXXXXX", purpose)).string();
    if (::mkdtemp(name.data()) == nullptr) {
      return errno_error(format("cannot make a folder '{}' (TMPDIR)", name));
    }
    return ScratchFolder(std::move(name));
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace assay
