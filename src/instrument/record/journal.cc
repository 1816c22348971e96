#include "record/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::record {
namespace {

constexpr std::string_view kSum = ",\"sum\":\"";
constexpr std::size_t kSumDigits = 16;

std::string line_of(const Json& entry) {
  std::string text = entry.dump();
  CHECK(entry.is_object() && entry.size() > 0 && entry.find("sum") == nullptr);
  text.pop_back();  // the closing brace
  const std::uint64_t sum = xxh3(text);
  return text + std::string(kSum) + format("{:016x}", sum) + "\"}\n";
}

// `line` is without its line end. False if line_of() did not make it.
bool read_line(std::string_view line, std::vector<Json>& out) {
  const std::size_t tail = kSum.size() + kSumDigits + 2;
  if (line.size() <= tail || !line.ends_with("\"}")) return false;
  const std::string_view body = line.substr(0, line.size() - tail);
  const std::string_view sum = line.substr(line.size() - tail);
  if (!sum.starts_with(kSum)) return false;
  if (sum.substr(kSum.size(), kSumDigits) != format("{:016x}", xxh3(body))) return false;
  auto entry = Json::parse(std::string(body) + "}");
  if (!entry) return false;
  out.push_back(*std::move(entry));
  return true;
}

// How many bytes hold whole entries.
Result<std::size_t> read_lines(std::string_view text, const std::filesystem::path& path,
                               std::vector<Json>& out) {
  std::size_t at = 0;
  for (std::size_t number = 1; at < text.size(); ++number) {
    const std::size_t end = text.find('\n', at);
    const bool whole = end != std::string_view::npos;
    if (whole && read_line(text.substr(at, end - at), out)) {
      at = end + 1;
      continue;
    }
    const bool last = !whole || end + 1 == text.size();
    if (!last) {
      return Error{Code::corrupt,
                   format("{}:{}: the line's checksum does not fit: the file was changed or the "
                          "disk damaged it",
                          path.string(), number)};
    }
    break;
  }
  return at;
}

Error io_error(const std::filesystem::path& path, std::string_view what) {
  const Code code = code_of_errno(errno) == Code::exhausted ? Code::exhausted : Code::io;
  return Error{code, format("{}: {}: {}", path.string(), what, std::strerror(errno))};
}

}  // namespace

Result<Journal> Journal::open(const std::filesystem::path& path) {
  if (path.has_parent_path()) TRY(make_folders(path.parent_path()));
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return io_error(path, "can't be opened");
  Journal journal(path, fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return Error{Code::refused, format("{}: another program is writing it", path.string())};
  }
  TRY(journal.read());
  return journal;
}

Journal::Journal(Journal&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      entries_(std::move(other.entries_)) {}

Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(entries_, other.entries_);
  return *this;
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> Journal::read() {
  ASSIGN_OR_RETURN(const std::string text, read_file(path_));
  ASSIGN_OR_RETURN(const std::size_t good, read_lines(text, path_, entries_));
  if (good < text.size() && ::ftruncate(fd_, static_cast<off_t>(good)) != 0) {
    return io_error(path_, "can't be cut to its last whole line");
  }
  return {};
}

Result<void> Journal::append(const Json& entry) {
  const std::string line = line_of(entry);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t n = ::write(fd_, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return io_error(path_, "can't be written");
    written += static_cast<std::size_t>(n);
  }
  if (::fdatasync(fd_) != 0) return io_error(path_, "can't be synced");
  entries_.push_back(entry);
  return {};
}

Result<std::vector<Json>> read_journal(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  std::vector<Json> out;
  ASSIGN_OR_RETURN(const std::size_t good, read_lines(text, path, out));
  static_cast<void>(good);
  return out;
}

}  // namespace assay::record
