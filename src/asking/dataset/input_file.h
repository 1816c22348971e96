// InputFile: a file, or bytes in memory, read at offsets: for formats whose table of contents is at
// the end of the file. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"

namespace assay::dataset {

class InputFile {
 public:
  static Result<InputFile> open(const std::filesystem::path& path);
  static InputFile of(std::string bytes);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();

  std::uint64_t size() const { return size_; }
  // Returns fewer bytes only at the file's end.
  Result<std::string> read(std::uint64_t offset, std::size_t size) const;
  Result<std::string> sha256() const;  // of the whole file, in hexadecimal

 private:
  InputFile() = default;
  std::string path_{};
  std::string bytes_{};
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace assay::dataset
