#include "base/thread_books.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <ctime>

namespace assay {
namespace {

// Its address identifies the thread.
thread_local char this_thread = 0;

const char* skip_spaces(const char* p, const char* end) {
  while (p != end && *p == ' ') ++p;
  return p;
}

}  // namespace

ThreadBooksReader::~ThreadBooksReader() {
  if (file_ >= 0) ::close(file_);
}

void ThreadBooksReader::open_for_this_thread() {
  if (file_ >= 0) ::close(file_);
  file_ = ::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  thread_ = &this_thread;
}

std::optional<ThreadBooks> ThreadBooksReader::look() {
  if (thread_ != &this_thread) open_for_this_thread();
  if (file_ < 0) return std::nullopt;
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) != 0) return std::nullopt;
  timespec cpu{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) != 0) return std::nullopt;
  std::array<char, 96> text{};
  const ssize_t size = ::pread(file_, text.data(), text.size(), 0);
  if (size <= 0) return std::nullopt;
  // "ran waited times": the first is only as fresh as the scheduler's last update.
  std::array<std::int64_t, 3> fields{};
  const char* p = text.data();
  const char* const end = p + size;
  for (std::int64_t& field : fields) {
    const auto [after, error] = std::from_chars(skip_spaces(p, end), end, field);
    if (error != std::errc{}) return std::nullopt;
    p = after;
  }
  if (fields[2] <= 0) return std::nullopt;  // a kernel without counters reports 0 0 0
  return ThreadBooks{.ran = {cpu.tv_sec * 1'000'000'000 + cpu.tv_nsec},
                     .waited = {fields[1]},
                     .voluntary_switches = static_cast<std::uint64_t>(usage.ru_nvcsw)};
}

}  // namespace assay
