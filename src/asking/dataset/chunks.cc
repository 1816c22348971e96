#include "dataset/chunks.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/format.h"

namespace assay::dataset {

bool is_lfs_pointer(std::string_view first_bytes) {
  return first_bytes.starts_with("version https://git-lfs.github.com/spec/v1");
}

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
      unpacker_(std::move(other.unpacker_)),
      head_(std::move(other.head_)),
      hash_(std::move(other.hash_)) {}

Chunks& Chunks::operator=(Chunks&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(buffer_, other.buffer_);
  std::swap(text_, other.text_);
  std::swap(step_, other.step_);
  std::swap(first_, other.first_);
  std::swap(unpacker_, other.unpacker_);
  std::swap(head_, other.head_);
  std::swap(hash_, other.hash_);
  return *this;
}

Chunks::~Chunks() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::string_view> Chunks::read_raw() {
  if (fd_ < 0) {
    // The first piece must be long enough to show what the file is, as a file's always is.
    const std::size_t first_min = is_lfs_pointer(text_) ? text_.size() : 4;
    const std::string_view piece =
        text_.substr(0, first_ ? std::max<std::size_t>(step_, first_min) : step_);
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

Result<std::string_view> Chunks::read() {
  if (first_) {
    ASSIGN_OR_RETURN(const std::string_view head, read_raw());
    if (is_lfs_pointer(head)) return invalid(format("1: {}", kLfsPointer));
    const auto packed = compression_of(head);
    if (!packed) return head;
    unpacker_ = std::make_unique<Unpacker>(*packed);
    unpacker_->give(head);
  }
  if (unpacker_ == nullptr) return read_raw();
  for (;;) {
    ASSIGN_OR_RETURN(const std::string_view piece, unpacker_->next());
    if (!piece.empty()) return piece;
    ASSIGN_OR_RETURN(const std::string_view packed, read_raw());
    if (packed.empty() && !unpacker_->whole()) return invalid("1: the packed file is cut short");
    if (packed.empty()) return packed;
    unpacker_->give(packed);
  }
}

Result<std::string_view> Chunks::next() {
  ASSIGN_OR_RETURN(std::string_view piece, read());
  if (!std::exchange(first_, false)) return piece;
  // A stream's first plain piece may be too short to show a byte order mark.
  constexpr std::size_t kMarkBytes = 3;
  if (unpacker_ != nullptr && piece.size() < kMarkBytes) {
    head_ = piece;
    for (std::string_view more = piece; head_.size() < kMarkBytes && !more.empty();) {
      ASSIGN_OR_RETURN(more, read());
      head_ += more;
    }
    piece = head_;
  }
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
    first_ = false;
    ASSIGN_OR_RETURN(const std::string_view piece, read_raw());
    if (piece.empty()) return hash_.finish();
  }
}

}  // namespace assay::dataset
