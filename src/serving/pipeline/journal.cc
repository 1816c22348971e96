#include "pipeline/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/files.h"
#include "base/format.h"
#include "base/hash.h"

namespace assay::pipeline {
namespace {

constexpr std::size_t kSumDigits = 16;

std::string sum_of(std::string_view last, std::string_view json) {
  return format("{:016x}", xxh3(std::string(last) + std::string(json)));
}

Error broken_line(std::size_t number, std::string_view why) {
  return {Code::corrupt,
          format("line {}: {}; the journal was changed or damaged\n"
                 "  a new work folder begins again; this one's logs and outputs stay",
                 number, why)};
}

}  // namespace

std::string journal_line(std::string_view last, const Json& record) {
  const std::string json = record.dump();
  return format("{} {}\n", sum_of(last, json), json);
}

Result<JournalText> read_journal(std::string_view text) {
  JournalText out;
  std::size_t number = 0;
  while (out.bytes < text.size()) {
    ++number;
    const std::size_t end = text.find('\n', out.bytes);
    if (end == std::string_view::npos) break;  // a part of a line
    const std::string_view line = text.substr(out.bytes, end - out.bytes);
    if (line.size() <= kSumDigits || line[kSumDigits] != ' ') {
      return broken_line(number, "it has no checksum");
    }
    const std::string_view json = line.substr(kSumDigits + 1);
    if (line.substr(0, kSumDigits) != sum_of(out.last, json)) {
      return broken_line(number, "its checksum is another");
    }
    auto record = Json::parse(json);
    if (!record) return broken_line(number, record.error().message);
    out.records.push_back(std::move(*record));
    out.last = line.substr(0, kSumDigits);
    out.bytes = end + 1;
  }
  return out;
}

Result<Journal> Journal::open(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (file < 0) return errno_error(format("cannot open '{}'", path.string()));
  if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    ::close(file);
    return Error{Code::refused, format("'{}' is in use by another run", path.string())};
  }
  auto bytes = read_file(path);
  auto text = bytes ? read_journal(*bytes) : Result<JournalText>(bytes.error());
  if (text && text->bytes < bytes->size() &&
      ::ftruncate(file, static_cast<off_t>(text->bytes)) != 0) {
    text = errno_error("cannot cut off a part of a line");
  }
  if (!text) {
    ::close(file);
    return text.error().within(path.string());
  }
  return Journal(file, std::move(*text));
}

Journal::Journal(int file, JournalText text)
    : file_(file),
      records_(std::move(text.records)),
      last_(std::move(text.last)),
      count_(records_.size()) {}

Journal::Journal(Journal&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      records_(std::move(other.records_)),
      last_(std::move(other.last_)),
      count_(other.count_) {}

Journal::~Journal() {
  if (file_ >= 0) ::close(file_);
}

Result<void> Journal::append(const Json& record) {
  const std::string line = journal_line(last_, record);
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t size = ::write(file_, line.data() + written, line.size() - written);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno_error("cannot write the journal");
    written += static_cast<std::size_t>(size);
  }
  last_ = line.substr(0, kSumDigits);
  ++count_;
  return {};
}

Result<void> Journal::sync() {
  if (::fdatasync(file_) != 0) return errno_error("cannot sync the journal");
  return {};
}

}  // namespace assay::pipeline
