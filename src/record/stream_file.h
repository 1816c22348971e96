// StreamFile: a file that is written piece by piece and appears under its name only when it is
// whole; until then it lies beside, and a failure takes it away. For files too large to be put
// together in memory. One thread.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace assay::record {

class StreamFile {
 public:
  // Makes missing parent folders.
  static Result<StreamFile> create(const std::filesystem::path& path);
  StreamFile(StreamFile&&) noexcept = default;
  StreamFile& operator=(StreamFile&&) noexcept = default;
  ~StreamFile();

  // A failure is kept, and commit() tells of it.
  void append(std::string_view bytes);
  // Syncs, and gives the file its name.
  Result<void> commit();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  StreamFile(std::filesystem::path path, std::filesystem::path beside, std::FILE* file);

  std::filesystem::path path_;
  std::filesystem::path beside_;
  std::unique_ptr<std::FILE, Close> file_;
  int error_ = 0;  // errno of the first write that failed
};

}  // namespace assay::record
