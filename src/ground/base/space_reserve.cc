#include "base/space_reserve.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/format.h"

namespace assay {
namespace {

// Some file systems cannot make a file without a name.
int open_nameless(const std::filesystem::path& folder) {
  const int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  const std::string name = format("{}/.reserve-{}", folder.string(), ::getpid());
  const int named = ::open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

Result<SpaceReserve> SpaceReserve::hold(const std::filesystem::path& folder, std::uint64_t bytes) {
  SpaceReserve out;
  out.fd_ = open_nameless(folder);
  const bool held = out.fd_ >= 0 && ::fallocate(out.fd_, 0, 0, static_cast<off_t>(bytes)) == 0;
  if (!held && (errno == ENOSPC || errno == EDQUOT)) {
    return errno_error(format("'{}' has no room for {} KiB", folder.string(), bytes / 1024));
  }
  if (!held) out.release();
  return out;
}

SpaceReserve::SpaceReserve(SpaceReserve&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

SpaceReserve& SpaceReserve::operator=(SpaceReserve&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

SpaceReserve::~SpaceReserve() { release(); }

void SpaceReserve::release() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace assay
