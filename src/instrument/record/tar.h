// A tar archive (POSIX ustar) in one canonical form: names in order, no owners, no times, zero
// padding. Every tar program unpacks it. Given contents have exactly one spelling, so a reader
// detects every changed byte, also in padding and headers.
//
// One thread a writer or reader. Memory is bounded by a buffer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/staged.h"

namespace assay::record {

inline constexpr std::size_t kTarNameMax = 100;

class TarWriter {
 public:
  // Writes beside `path`; finish() gives it its name. Without finish() no file is left.
  static Result<TarWriter> create(const std::filesystem::path& path);
  Result<void> add_text(std::string_view name, std::string_view text);
  // Fails when the file's length is no longer `bytes`.
  Result<void> add_file(std::string_view name, const std::filesystem::path& file,
                        std::uint64_t bytes);
  Result<void> finish();

 private:
  explicit TarWriter(StagedFile file);
  Result<void> begin(std::string_view name, std::uint64_t bytes);
  void append_zeros(std::uint64_t count);

  StagedFile file_;
};

// False for a plain file in which no archive begins. For an unreadable file read_tar() gives the
// reason.
bool may_be_tar(const std::filesystem::path& path);

struct TarMember {
  std::string name{};
  std::uint64_t bytes = 0;
};

// Reads an archive that TarWriter wrote. Calls `on_member` at the start of each member and
// `on_bytes` with its contents in order; each may end the reading with an error. Fails with
// Code::corrupt, naming the offset, at the first byte that TarWriter would not have written.
Result<void> read_tar(const std::filesystem::path& path,
                      const std::function<Result<void>(const TarMember&)>& on_member,
                      const std::function<Result<void>(std::string_view)>& on_bytes);

}  // namespace assay::record
