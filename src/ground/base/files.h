// Files: whole reads, atomic writes, and folders. Every failure names the path.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace assay {

// An open file that closes itself. Written bytes may still be lost until fclose succeeds: a writer
// calls fclose(file.release()) and checks its result.
struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

// The whole file. Fails with Code::invalid when it is larger than `bytes_max`.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t bytes_max = std::size_t{4} << 30);

// Where to write a file that must end up at `path`. A rename would replace a device, a pipe or a
// link (/dev/stdout, as root even /dev/null): these are written in place, and for a link the file
// that it points at is replaced. Code::invalid for a folder.
struct WritePlace {
  std::filesystem::path path{};
  bool in_place = false;  // false: write beside the path and rename at the end
};
Result<WritePlace> write_place(const std::filesystem::path& path);

// Writes beside the path, syncs, renames, syncs the folder (base/staged.h): after a crash the file
// is the old one or the new one, never a part. Makes missing parent folders. Use `mode` 0600 for a
// secret.
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                               unsigned mode = 0644);

Result<void> make_folders(const std::filesystem::path& path);

}  // namespace assay
