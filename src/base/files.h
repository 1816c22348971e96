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

// Writes beside the path, syncs, renames, syncs the folder: after a crash the file is the old one
// or the new one, never a piece. Makes missing parent folders.
Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes);

Result<void> make_folders(const std::filesystem::path& path);

}  // namespace assay
