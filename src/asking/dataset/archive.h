// Archive: the members of a zip or tar file (tar.gz too), read in place and never unpacked to disk.
// A member whose name would leave a folder (absolute, "..", a backslash, a drive) is an error for
// the whole archive. Links and devices are not members. Sizes are limited: a member has at most
// kMemberBytesMax, and its uncompressed size must equal the size in the directory. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/compression.h"
#include "dataset/input_file.h"

namespace assay::dataset {

inline constexpr std::uint64_t kMemberBytesMax = std::uint64_t{1} << 30;

// Returns true when `name` stays within a folder: relative, "/" between parts, no part "..".
bool is_safe_path(std::string_view name);

class Archive {
 public:
  // Detects the format by the first bytes. `name` is for messages.
  static Result<Archive> open(InputFile file, const std::string& name);
  static Result<bool> is_archive(const InputFile& file);

  struct Member {
    std::string name{};
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // tar: of the data; zip: of the local header
    std::uint64_t compressed = 0;
    Compression compression = Compression::none;
    std::uint32_t crc = 0;  // zip
  };
  // Members in the archive's order, without folders.
  const std::vector<Member>& members() const { return members_; }
  Result<std::string> read(const Member& member) const;

 private:
  Archive(InputFile file, std::string name) : file_(std::move(file)), name_(std::move(name)) {}
  Result<void> read_zip();
  Result<void> read_tar();
  Result<void> add(Member member);

  InputFile file_;
  std::string name_;
  bool zip_ = false;
  std::vector<Member> members_{};
};

// Returns the bytes of a gzip file uncompressed; those of any other file unchanged.
Result<std::string> gunzipped(const InputFile& file);

}  // namespace assay::dataset
