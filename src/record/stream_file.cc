#include "record/stream_file.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"

namespace assay::record {

Result<StreamFile> StreamFile::create(const std::filesystem::path& path) {
  if (path.has_parent_path()) TRY(make_folders(path.parent_path()));
  ASSIGN_OR_RETURN(const WritePlace place, write_place(path));
  std::filesystem::path beside = place.path;
  if (!place.in_place) beside += format(".{}.part", ::getpid());
  std::FILE* const file = std::fopen(beside.c_str(), "wbe");
  if (file == nullptr) return errno_error(format("cannot write '{}'", path.string()));
  return StreamFile(place.path, std::move(beside), file);
}

StreamFile::StreamFile(std::filesystem::path path, std::filesystem::path beside, std::FILE* file)
    : path_(std::move(path)), beside_(std::move(beside)), file_(file) {}

StreamFile::~StreamFile() {
  if (file_ == nullptr || beside_ == path_) return;
  std::error_code ignored;
  std::filesystem::remove(beside_, ignored);
}

void StreamFile::append(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size() && error_ == 0) {
    error_ = errno;
  }
}

Result<void> StreamFile::commit() {
  const bool in_place = beside_ == path_;  // a device or a pipe: no fsync, no rename
  const bool written = std::ferror(file_.get()) == 0 && std::fflush(file_.get()) == 0 &&
                       (in_place || ::fsync(::fileno(file_.get())) == 0);
  if (!written && error_ != 0) errno = error_;  // the first failure is the cause
  if (!written) return errno_error(format("cannot write '{}'", path_.string()));
  std::error_code error;
  if (!in_place) std::filesystem::rename(beside_, path_, error);
  if (error) {
    return Error{Code::io, format("cannot write '{}': {}", path_.string(), error.message())};
  }
  file_.reset();
  return {};
}

}  // namespace assay::record
