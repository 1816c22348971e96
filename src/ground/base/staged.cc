#include "base/staged.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "base/format.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr int kPartsMax = 64;  // writers of one file at once
constexpr int kClaims = 100;   // tries; each one fails because another process was faster

// Whether `path` is still what `fd` was opened as.
bool is_still(const std::string& path, int fd) {
  struct stat now {};
  struct stat ours {};
  return ::lstat(path.c_str(), &now) == 0 && ::fstat(fd, &ours) == 0 && now.st_dev == ours.st_dev &&
         now.st_ino == ours.st_ino;
}

int make_file(const std::string& path, unsigned mode) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
}

int make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) != 0) return -1;
  return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Removes what a dead writer left. False: its writer lives, or that is unknown.
Result<bool> take_remains_away(const std::string& part) {
  const int old = ::open(part.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (old < 0) return errno == ENOENT;
  const bool dead = ::flock(old, LOCK_EX | LOCK_NB) == 0 && is_still(part, old);
  std::error_code error;
  if (dead) fs::remove_all(part, error);
  ::close(old);
  if (error) {
    return Error{code_of_errno(error.value()),
                 format("cannot remove the remains '{}': {}", part, error.message())};
  }
  return dead;
}

// A new file or folder under this name, locked. nullopt: another process has it.
template <typename Make>
Result<std::optional<int>> claim(const std::string& part, const Make& make) {
  for (int i = 0; i < kClaims; ++i) {
    const int fd = make(part);
    if (fd < 0 && errno != EEXIST && errno != ENOENT) {
      return errno_error(format("cannot create '{}'", part));
    }
    if (fd < 0) {
      const bool missing = errno == ENOENT;
      if (missing && !fs::exists(fs::path(part).parent_path())) {
        return errno_error(format("cannot create '{}'", part));
      }
      ASSIGN_OR_RETURN(const bool free, take_remains_away(part));
      if (!free) return std::optional<int>();
      continue;
    }
    const bool locked = ::flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && is_still(part, fd)) return std::optional<int>(fd);
    ::close(fd);  // between the two calls another process took it for an old part
  }
  return std::optional<int>();
}

Result<void> sync_path(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno_error(format("cannot open '{}'", path.string()));
  const int done = ::fsync(fd);
  const Error error = errno_error(format("cannot sync '{}'", path.string()));
  ::close(fd);
  return done == 0 ? Result<void>() : error;
}

// A name is only safe on disk once its folder is synced. Some file systems cannot sync folders.
void sync_name(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

Result<void> sync_tree(const fs::path& root) {
  std::error_code error;
  fs::recursive_directory_iterator it(root, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const fs::file_status status = it->symlink_status(error);
    if (fs::is_regular_file(status) || fs::is_directory(status)) TRY(sync_path(it->path()));
  }
  if (error)
    return Error{code_of_errno(error.value()), format("'{}': {}", root.string(), error.message())};
  return sync_path(root);
}

// The folder's own path, also for "a/b/" and ".", and behind a link.
Result<fs::path> folder_place(const fs::path& path) {
  if (path.empty()) return invalid("a folder's name is empty");
  std::error_code error;
  if (fs::exists(path, error)) {
    fs::path place = fs::canonical(path, error);
    if (error)
      return Error{code_of_errno(error.value()),
                   format("'{}': {}", path.string(), error.message())};
    return place;
  }
  fs::path place = fs::absolute(path, error).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  return place;
}

Result<void> check_place(const fs::path& place, bool replaces) {
  std::error_code error;
  const auto status = fs::symlink_status(place, error);
  if (!fs::exists(status)) return {};
  const std::string name = place.string();
  if (!fs::is_directory(status)) return invalid(format("'{}' is not a folder", name));
  if (!replaces && !fs::is_empty(place, error)) {
    return invalid(format("'{}' is not empty; name a new folder", name));
  }
  struct stat own {};
  struct stat above {};
  if (::stat(name.c_str(), &own) != 0 || ::stat(place.parent_path().c_str(), &above) != 0) {
    return errno_error(format("'{}'", name));
  }
  if (own.st_dev != above.st_dev) {
    return invalid(
        format("'{}' is a mount point, which cannot be replaced; name a folder in it", name));
  }
  if (fs::equivalent(place, fs::current_path(error), error)) {
    return invalid(
        format("'{}' is the working folder, which cannot be replaced; name it from outside", name));
  }
  return {};
}

}  // namespace

StagedFile::StagedFile(WritePlace place, std::string part, File file)
    : place_(std::move(place)), part_(std::move(part)), file_(std::move(file)) {}

StagedFile::StagedFile(StagedFile&& other) noexcept = default;

StagedFile& StagedFile::operator=(StagedFile&& other) noexcept {
  if (this == &other) return *this;
  drop();
  place_ = std::move(other.place_);
  part_ = std::move(other.part_);
  file_ = std::move(other.file_);
  error_ = other.error_;
  return *this;
}

StagedFile::~StagedFile() { drop(); }

// Removes the file before closing it: its lock ends with the close.
void StagedFile::drop() {
  if (file_ && !place_.in_place) ::unlink(part_.c_str());
  file_.reset();
}

Result<StagedFile> StagedFile::create(const fs::path& path, unsigned mode) {
  ASSIGN_OR_RETURN(WritePlace place, write_place(path));
  const auto opened = [&path](int fd) -> Result<File> {
    File file(fd < 0 ? nullptr : ::fdopen(fd, "wb"));
    if (!file) return errno_error(format("cannot write '{}'", path.string()));
    return file;
  };
  if (place.in_place) {
    ASSIGN_OR_RETURN(File file, opened(::open(place.path.c_str(), O_WRONLY | O_CLOEXEC)));
    std::string name = place.path.string();
    return StagedFile(std::move(place), std::move(name), std::move(file));
  }
  if (place.path.has_parent_path()) TRY(make_folders(place.path.parent_path()));
  for (int i = 1; i <= kPartsMax; ++i) {
    std::string part = place.path.string();
    if (i > 1) part += format(".{}", i);
    part += kPartSuffix;
    ASSIGN_OR_RETURN(const auto fd, claim(part, [mode](const std::string& name) {
                       return make_file(name, mode);
                     }));
    if (!fd) continue;
    ASSIGN_OR_RETURN(File file, opened(*fd));
    return StagedFile(std::move(place), std::move(part), std::move(file));
  }
  return Error{Code::io, format("'{}': {} parts of it lie beside it; remove '*{}' there",
                                path.string(), kPartsMax, kPartSuffix)};
}

void StagedFile::append(std::string_view bytes) {
  if (error_ != 0 || bytes.empty()) return;
  errno = 0;
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    error_ = errno != 0 ? errno : EIO;
  }
}

Result<void> StagedFile::commit() {
  const auto failed_as = [this](int error) -> Error {
    errno = error;
    Error said = errno_error(format("cannot write '{}'", place_.path.string()));
    drop();
    error_ = error;  // later appends write nothing
    return said;
  };
  if (error_ != 0) return failed_as(error_);
  if (std::fflush(file_.get()) != 0) return failed_as(errno);
  if (!place_.in_place) {
    if (::fsync(::fileno(file_.get())) != 0) return failed_as(errno);
    if (std::rename(part_.c_str(), place_.path.c_str()) != 0) return failed_as(errno);
    part_.clear();
  }
  const bool closed = std::fclose(file_.release()) == 0;
  if (!closed) return failed_as(errno);
  if (!place_.in_place) sync_name(place_.path);
  return {};
}

StagedFolder::StagedFolder(fs::path place, fs::path part, int lock, bool replaces)
    : place_(std::move(place)), part_(std::move(part)), lock_(lock), replaces_(replaces) {}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : place_(std::move(other.place_)),
      part_(std::move(other.part_)),
      lock_(std::exchange(other.lock_, -1)),
      replaces_(other.replaces_) {}

StagedFolder::~StagedFolder() { drop(); }

void StagedFolder::drop() {
  if (lock_ < 0) return;
  std::error_code ignored;
  fs::remove_all(part_, ignored);
  ::close(std::exchange(lock_, -1));
}

Result<StagedFolder> StagedFolder::create(const fs::path& path, bool replaces) {
  ASSIGN_OR_RETURN(fs::path place, folder_place(path));
  TRY(check_place(place, replaces));
  TRY(make_folders(place.parent_path()));
  fs::path part = place;
  part += kPartSuffix;
  ASSIGN_OR_RETURN(const auto fd, claim(part.string(), make_folder));
  if (!fd) {
    return invalid(
        format("'{}' exists: another program is writing '{}' now\n  if no program is, "
               "remove it",
               part.string(), place.string()));
  }
  return StagedFolder(std::move(place), std::move(part), *fd, replaces);
}

// Both names change places in one step; drop() then removes the old folder.
Result<void> StagedFolder::exchange() {
  if (::renameat2(AT_FDCWD, part_.c_str(), AT_FDCWD, place_.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  if (errno != EINVAL && errno != ENOSYS) {
    return errno_error(format("cannot rename '{}' to '{}'", part_.string(), place_.string()));
  }
  // A file system without that: for a moment the name does not exist.
  std::error_code error;
  fs::remove_all(place_, error);
  if (!error) fs::rename(part_, place_, error);
  if (!error) return {};
  return Error{code_of_errno(error.value()),
               format("cannot replace '{}': {}", place_.string(), error.message())};
}

Result<void> StagedFolder::commit() {
  const auto done = [this]() -> Result<void> {
    TRY(sync_tree(part_));
    std::error_code ignored;
    if (replaces_ && fs::exists(place_, ignored)) return exchange();
    if (std::rename(part_.c_str(), place_.c_str()) == 0) return {};
    return errno_error(format("cannot rename '{}' to '{}'", part_.string(), place_.string()));
  }();
  if (done) sync_name(place_);
  drop();
  return done;
}

}  // namespace assay
