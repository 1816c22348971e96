#include "dataset/chunks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/format.h"

namespace assay::dataset {

Result<Chunks> Chunks::open(const std::filesystem::path& path) {
  Chunks chunks;
  chunks.path_ = path.string();
  chunks.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (chunks.fd_ < 0) return errno_error(format("cannot open '{}'", chunks.path_));
  struct stat status {};
  if (::fstat(chunks.fd_, &status) != 0) {
    return errno_error(format("cannot read '{}'", chunks.path_));
  }
  if (S_ISDIR(status.st_mode)) {
    return invalid(format("'{}' is a folder, not a file", chunks.path_));
  }
  chunks.step_ = std::size_t{1} << 20;
  chunks.buffer_.resize(chunks.step_);
  return chunks;
}

Chunks Chunks::of(std::string_view text, std::size_t step) {
  Chunks chunks;
  chunks.text_ = text;
  chunks.step_ = step;
  return chunks;
}

Chunks::Chunks(Chunks&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      text_(other.text_),
      step_(other.step_),
      first_(other.first_),
      hash_(std::move(other.hash_)) {}

Chunks& Chunks::operator=(Chunks&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(buffer_, other.buffer_);
  std::swap(text_, other.text_);
  std::swap(step_, other.step_);
  std::swap(first_, other.first_);
  std::swap(hash_, other.hash_);
  return *this;
}

Chunks::~Chunks() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string_view> Chunks::read() {
  if (fd_ < 0) {
    // The first piece must be long enough to show a byte order mark, as a file's always is.
    const std::string_view piece =
        text_.substr(0, first_ ? std::max<std::size_t>(step_, 3) : step_);
    text_.remove_prefix(piece.size());
    hash_.add(piece);
    return piece;
  }
  for (;;) {
    const ssize_t n = ::read(fd_, buffer_.data(), buffer_.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_error(format("cannot read '{}'", path_));
    const std::string_view piece(buffer_.data(), static_cast<std::size_t>(n));
    hash_.add(piece);
    return piece;
  }
}

Result<std::string_view> Chunks::next() {
  ASSIGN_OR_RETURN(std::string_view piece, read());
  if (!std::exchange(first_, false)) return piece;
  if (piece.starts_with("\xFF\xFE") || piece.starts_with("\xFE\xFF")) {
    return invalid("1: the file is UTF-16; convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)");
  }
  constexpr std::string_view kMark = "\xEF\xBB\xBF";
  if (piece.starts_with(kMark)) {
    piece.remove_prefix(kMark.size());
    if (piece.empty()) return read();
  }
  return piece;
}

Result<std::string> Chunks::sha256() {
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view piece, read());
    if (piece.empty()) return hash_.finish();
  }
}

}  // namespace assay::dataset
