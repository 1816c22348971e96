// A tar archive (POSIX ustar) in one canonical form: names in order, no owners, no times, zero
// padding. Any tar program unpacks it; and since there is exactly one spelling of given contents, a
// reader can tell any byte that was changed, padding and headers included.
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
  // Writes beside `path`; finish() gives it its name, and without it nothing is left.
  static Result<TarWriter> create(const std::filesystem::path& path);
  Result<void> add_text(std::string_view name, std::string_view text);
  // Fails when the file is not `bytes` long any more.
  Result<void> add_file(std::string_view name, const std::filesystem::path& file,
                        std::uint64_t bytes);
  Result<void> finish();

 private:
  explicit TarWriter(StagedFile file);
  Result<void> begin(std::string_view name, std::uint64_t bytes);
  void append_zeros(std::uint64_t count);

  StagedFile file_;
};

// False for a plain file in which no archive begins. Of what cannot be read read_tar has more to
// say.
bool may_be_tar(const std::filesystem::path& path);

struct TarMember {
  std::string name{};
  std::uint64_t bytes = 0;
};

// Reads an archive that TarWriter wrote. `on_member` is called at each one's start and `on_bytes`
// with its contents in order; either may end the reading with an error. Fails with Code::corrupt,
// the offset named, at the first byte that is not as TarWriter would have written it.
Result<void> read_tar(const std::filesystem::path& path,
                      const std::function<Result<void>(const TarMember&)>& on_member,
                      const std::function<Result<void>(std::string_view)>& on_bytes);

}  // namespace assay::record
