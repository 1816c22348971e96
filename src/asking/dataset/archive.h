// Archive: the members of a zip or tar file (tar.gz too), read in place and never unpacked to disk.
// A member whose name would leave a folder (absolute, "..", a backslash, a drive) is an error for
// the whole archive; links and devices are no members. Sizes are bounded: a member may have
// kMemberBytesMax, and what is compressed must come out exactly as long as the directory says.
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/compression.h"
#include "dataset/input_file.h"

namespace assay::dataset {

inline constexpr std::uint64_t kMemberBytesMax = std::uint64_t{1} << 30;

// Whether `name` stays within a folder: relative, "/" between parts, none of them "..".
bool is_safe_path(std::string_view name);

class Archive {
 public:
  // By its first bytes. `name` is for messages.
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
  // In the archive's order; folders are left out.
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

// The bytes of a gzip file, uncompressed; any other as it stands.
Result<std::string> gunzipped(const InputFile& file);

}  // namespace assay::dataset
