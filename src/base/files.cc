#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/format.h"

namespace assay {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

Result<void> write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(format("cannot write '{}'", name));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> write_in_place(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return errno_error(format("cannot write '{}'", path.string()));
  return write_all(file.get(), bytes, path.string());
}

Result<void> write_and_sync(const std::string& path, std::string_view bytes, unsigned mode) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (file.get() < 0) return errno_error(format("cannot create '{}'", path));
  TRY(write_all(file.get(), bytes, path));
  if (::fsync(file.get()) != 0) return errno_error(format("cannot sync '{}'", path));
  return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno_error(format("cannot open '{}'", path.string()));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    return errno_error(format("cannot read '{}'", path.string()));
  if (S_ISDIR(status.st_mode))
    return invalid(format("'{}' is a folder, not a file", path.string()));
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size));
  constexpr std::size_t kStep = 1 << 20;
  for (;;) {
    const std::size_t size = bytes.size();
    bytes.resize(size + kStep);
    const ssize_t n = ::read(file.get(), bytes.data() + size, kStep);
    if (n < 0 && errno == EINTR) {
      bytes.resize(size);
      continue;
    }
    if (n < 0) return errno_error(format("cannot read '{}'", path.string()));
    bytes.resize(size + static_cast<std::size_t>(n));
    if (n == 0) return bytes;
    if (bytes.size() > bytes_max) {
      return invalid(format("'{}' is larger than {} bytes", path.string(), bytes_max));
    }
  }
}

Result<void> make_folders(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) {
    const Code code = error == std::errc::no_space_on_device ? Code::exhausted : Code::io;
    return Error{code, format("cannot make folder '{}': {}", path.string(), error.message())};
  }
  return {};
}

Result<WritePlace> write_place(const std::filesystem::path& path) {
  if (path.empty()) return invalid("a file's name is empty");
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return WritePlace{path};
  if (std::filesystem::is_directory(status)) {
    return invalid(format("'{}' is a folder, not a file", path.string()));
  }
  // What stands below /dev is somebody's open file, whatever it is at this moment.
  const bool open_file = path.string().starts_with("/dev/") || path.string().starts_with("/proc/");
  if (open_file || !std::filesystem::is_regular_file(status)) return WritePlace{path, true};
  if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error))) {
    return WritePlace{path};
  }
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error) {
    return Error{Code::io, format("cannot follow '{}': {}", path.string(), error.message())};
  }
  return WritePlace{target};
}

Result<void> write_file_atomic(const std::filesystem::path& path, std::string_view bytes,
                               unsigned mode) {
  ASSIGN_OR_RETURN(const WritePlace place, write_place(path));
  if (place.in_place) return write_in_place(place.path, bytes);
  const std::filesystem::path folder =
      place.path.has_parent_path() ? place.path.parent_path() : ".";
  TRY(make_folders(folder));
  const std::string temporary = format("{}.{}.tmp", place.path.string(), ::getpid());
  if (auto written = write_and_sync(temporary, bytes, mode); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (std::rename(temporary.c_str(), place.path.c_str()) != 0) {
    const Error error =
        errno_error(format("cannot rename '{}' to '{}'", temporary, place.path.string()));
    ::unlink(temporary.c_str());
    return error;
  }
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() >= 0) ::fsync(directory.get());
  return {};
}

}  // namespace assay
