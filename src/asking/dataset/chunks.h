// Chunks: the bytes of a file (or of a string, in tests), read piece by piece and hashed, so that a
// reader needs memory for one row and not for the whole file. A UTF-8 byte order mark at the start
// is dropped; UTF-16 is an error that names it, and so is a Git LFS pointer. A file that begins as
// gzip or Zstandard do is unpacked on the way (unpacker.h). One thread.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "dataset/unpacker.h"

namespace assay::dataset {

// Longest row of a text format, in bytes. A longer row is an error, so that a file cannot use up
// the memory.
inline constexpr std::size_t kRowBytesMax = std::size_t{64} << 20;

// What Git keeps in place of a file that Git LFS has not fetched.
bool is_lfs_pointer(std::string_view first_bytes);
inline constexpr std::string_view kLfsPointer =
    "a Git LFS pointer stands in place of the file: fetch it with 'git lfs pull'";

class Chunks {
 public:
  static Result<Chunks> open(const std::filesystem::path& path);
  // `text` must outlive the value.
  static Chunks of(std::string_view text, std::size_t step = 1 << 20);

  Chunks(Chunks&& other) noexcept;
  Chunks& operator=(Chunks&& other) noexcept;
  ~Chunks();

  // Returns the next piece, valid until the next call; empty at the end.
  Result<std::string_view> next();
  // Reads the rest; returns the SHA-256 of all bytes as they stand in the file.
  Result<std::string> sha256();

 private:
  Chunks() = default;
  Result<std::string_view> read_raw();
  // The next plain bytes.
  Result<std::string_view> read();

  std::string path_{};
  int fd_ = -1;
  std::string buffer_{};
  std::string_view text_{};
  std::size_t step_ = 0;
  bool first_ = true;
  std::unique_ptr<Unpacker> unpacker_{};
  std::string head_{};  // the first plain bytes of a stream, if its first piece was short
  Sha256 hash_{};
};

}  // namespace assay::dataset
