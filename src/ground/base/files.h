// Files: whole reads, atomic writes, and folders. Every failure names the path.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

// An open file that closes itself. What is written is not known to be kept until fclose says so:
// a writer calls fclose(file.release()) and looks at its answer.
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// The whole file. Fails with Code::invalid when it is larger than `bytes_max`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t bytes_max = std::size_t{4} << 30);

// Where a file goes that is to stand at `path`. A rename would put a file in the place of a device,
// a pipe or a link (/dev/stdout, as root even /dev/null): what is none is written as it stands, and
// of a link what it points at is replaced. Code::invalid for a folder.
struct WritePlace {
  std::filesystem::path path{};
  bool in_place = false;  // else: beside it, and renamed when it is whole
};
Result<WritePlace> write_place(const std::filesystem::path& path);

// Writes beside the path, syncs, renames, syncs the folder (base/staged.h): after a crash the file
// is the old one or the new one, never a piece. Makes missing parent folders. `mode` is for a
// secret: 0600.
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                               unsigned mode = 0644);

Result<void> make_folders(const std::filesystem::path& path);

}  // namespace assay
