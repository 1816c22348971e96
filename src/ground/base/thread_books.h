// ThreadBooks: what the kernel has counted for a thread: how long it ran, how long it was ready and
// waited for a core, and how often it was put onto one. Linux keeps them for each thread
// (/proc/thread-self/schedstat; the time on the core comes from the thread's CPU clock, which is up
// to date at each reading). A reading costs two system calls.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace assay {

struct ThreadBooks {
  Duration ran{};
  Duration waited{};  // ready to run, and not running
  std::uint64_t times_on_core = 0;
  bool operator==(const ThreadBooks&) const = default;
};

// Reads the books of the calling thread. One thread at a time.
class ThreadBooksReader {
 public:
  ThreadBooksReader() = default;
  ~ThreadBooksReader();
  ThreadBooksReader(const ThreadBooksReader&) = delete;
  ThreadBooksReader& operator=(const ThreadBooksReader&) = delete;

  // nullopt where the kernel keeps no books.
  std::optional<ThreadBooks> look();

 private:
  void open_for_this_thread();

  int file_ = -1;
  const void* thread_ = nullptr;  // the thread of file_
};

}  // namespace assay
