// StagedFile and StagedFolder: a file or folder that appears under its name only when complete.
//
// Until then it lies beside its place as NAME.assay-part (NAME.2.assay-part, and so on, while other
// programs write the same file). Its writer holds a lock on it (flock), which ends with the
// process. So a kill or a full disk leaves nothing under NAME, and the next writer of NAME finds
// the part without a lock, removes it and goes on. On a file system without such locks an old part
// blocks the name, and the error says so.
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
  // Makes missing parent folders. Treats a device, a pipe or a link as write_place() says.
  static Result<StagedFile> create(const std::filesystem::path& path, unsigned mode = 0644);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&& other) noexcept;
  // Without commit() no file is left.
  ~StagedFile();

  // Stores a failure; failed() and commit() report it.
  void append(std::string_view bytes);
  bool failed() const { return error_ != 0; }
  // Syncs, gives the file its name, syncs the folder. After a failure no file is left.
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
  // `path` is new or an empty folder, which is replaced; with `replaces`, any folder. Code::invalid
  // for any other path, while another program writes the same folder, and where the place cannot be
  // taken (the working folder, a mount point).
  static Result<StagedFolder> create(const std::filesystem::path& path, bool replaces = false);
  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&& other) = delete;
  ~StagedFolder();

  // Where to write.
  const std::filesystem::path& path() const { return part_; }
  // Syncs every file and folder in it and gives it its name. Removes the folder that it replaces.
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
