// StagedFile and StagedFolder: what others read appears under its name only when it is whole.
//
// Until then it lies beside its place as NAME.assay-part (a file whose part another program is just
// writing: NAME.2.assay-part, and so on). Whoever writes it holds a lock on it (flock), which ends
// with the process however it ends. So a kill or a full disk leaves nothing under NAME, and the
// next writer of NAME finds the part without its lock, takes it away and goes on. Where a file
// system knows no such locks, a part that lies there is in the way, and the error says so.
//
// Each object belongs to one thread.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/files.h"
#include "base/result.h"

namespace assay {

inline constexpr std::string_view kPartSuffix = ".assay-part";

class StagedFile {
 public:
  // Makes missing parent folders. A device, a pipe or a link is treated as write_place() says.
  static Result<StagedFile> create(const std::filesystem::path& path, unsigned mode = 0644);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&& other) noexcept;
  // Without commit() nothing is left.
  ~StagedFile();

  // A failure is kept, and commit() tells of it, as failed() does before.
  void append(std::string_view bytes);
  bool failed() const { return error_ != 0; }
  // Syncs, gives the file its name, syncs the folder. After a failure nothing is left.
  Result<void> commit();

 private:
  StagedFile(WritePlace place, std::string part, File file);
  void drop();

  WritePlace place_{};
  std::string part_{};
  File file_{};
  int error_ = 0;  // errno of the first write that failed
};

class StagedFolder {
 public:
  // `path` is new or an empty folder, whose place is taken; with `replaces`, whatever folder stands
  // there. Code::invalid where it is none of these, where another program is writing the same, and
  // where its place cannot be taken (the working folder, a mount point).
  static Result<StagedFolder> create(const std::filesystem::path& path, bool replaces = false);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&& other) = delete;
  ~StagedFolder();

  // Where to write.
  const std::filesystem::path& path() const { return part_; }
  // Syncs every file and folder in it and gives it its name. What stood there before is gone then.
  Result<void> commit();

 private:
  StagedFolder(std::filesystem::path place, std::filesystem::path part, int lock, bool replaces);
  Result<void> exchange();
  void drop();

  std::filesystem::path place_{};
  std::filesystem::path part_{};
  int lock_ = -1;
  bool replaces_ = false;
};

}  // namespace assay
