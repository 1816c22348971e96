// Chunks: the bytes of a file (or of a string, in tests), read piece by piece and hashed, so that a
// reader needs memory for one row and not for the whole file. A UTF-8 byte order mark at the start
// is dropped; UTF-16 is an error that names it. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace assay::dataset {

// Longest row of a text format, in bytes. A longer row is an error, so that a file cannot use up
// the memory.
inline constexpr std::size_t kRowBytesMax = std::size_t{64} << 20;

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
  // Reads the rest; returns the SHA-256 of all bytes, the byte order mark included.
  Result<std::string> sha256();

 private:
  Chunks() = default;
  Result<std::string_view> read();

  std::string path_{};
  int fd_ = -1;
  std::string buffer_{};
  std::string_view text_{};
  std::size_t step_ = 0;
  bool first_ = true;
  Sha256 hash_{};
};

}  // namespace assay::dataset
