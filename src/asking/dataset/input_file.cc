#include "dataset/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/format.h"
#include "base/hash.h"

namespace assay::dataset {

Result<InputFile> InputFile::open(const std::filesystem::path& path) {
  InputFile out;
  out.path_ = path.string();
  out.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (out.fd_ < 0) return errno_error(format("cannot open '{}'", out.path_));
  struct stat status {};
  if (::fstat(out.fd_, &status) != 0) return errno_error(format("cannot read '{}'", out.path_));
  if (!S_ISREG(status.st_mode)) return invalid(format("'{}' is not a file", out.path_));
  out.size_ = static_cast<std::uint64_t>(status.st_size);
  return out;
}

InputFile InputFile::of(std::string bytes) {
  InputFile out;
  out.bytes_ = std::move(bytes);
  out.size_ = out.bytes_.size();
  return out;
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      bytes_(std::move(other.bytes_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string> InputFile::read(std::uint64_t offset, std::size_t size) const {
  if (fd_ < 0) return bytes_.substr(std::min<std::uint64_t>(offset, size_), size);
  std::string out(std::min<std::uint64_t>(size, size_ - std::min(size_, offset)), '\0');
  std::size_t have = 0;
  while (have < out.size()) {
    const ssize_t n =
        ::pread(fd_, out.data() + have, out.size() - have, static_cast<off_t>(offset + have));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(format("cannot read '{}'", path_));
    if (n == 0) break;  // it was cut while we read
    have += static_cast<std::size_t>(n);
  }
  out.resize(have);
  return out;
}

Result<std::string> InputFile::sha256() const {
  Sha256 hash;
  constexpr std::size_t kStep = 1 << 20;
  for (std::uint64_t at = 0; at < size_; at += kStep) {
    ASSIGN_OR_RETURN(const std::string bytes, read(at, kStep));
    hash.add(bytes);
  }
  return hash.finish();
}

}  // namespace assay::dataset
