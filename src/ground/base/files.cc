#include "base/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/format.h"
#include "base/staged.h"

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

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return errno_error(format("cannot open '{}'", path.string()));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0)
    return errno_error(format("cannot read '{}'", path.string()));
  if (S_ISDIR(status.st_mode))
    return invalid(format("'{}' is a folder, not a file", path.string()));
  // A file of /proc states no size. Its buffer begins small: a megabyte to zero for each look at a
  // small file takes the processor from a load that shares it.
  constexpr std::size_t kStepMin = 16 << 10;
  constexpr std::size_t kStepMax = 1 << 20;
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(status.st_size));
  for (std::size_t step = kStepMin;; step = std::min(2 * step, kStepMax)) {
    const std::size_t size = bytes.size();
    bytes.resize(size + step);
    const ssize_t n = ::read(file.get(), bytes.data() + size, step);
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
  // /dev/stdout, /dev/fd/3 and what is below /proc may be another process's open file, of any type.
  // A file in /dev/shm is a file.
  const std::string folder =
      std::filesystem::canonical(std::filesystem::absolute(path, error).parent_path(), error);
  const bool open_file = folder == "/dev" || folder.starts_with("/proc/");
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
  ASSIGN_OR_RETURN(StagedFile file, StagedFile::create(path, mode));
  file.append(bytes);
  return file.commit();
}

}  // namespace assay
