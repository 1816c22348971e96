// ThreadBooks: what the kernel has counted for a thread: how long it ran, how long it was ready and
// waited for a core, and how often it left its core without being preempted. Linux keeps them for
// each thread: waiting in /proc/thread-self/schedstat, running in the thread's CPU clock, which is
// up to date at each reading, and switches in getrusage(). A reading costs three system calls.
#pragma once

#include <cstdint>
#include <optional>

#include "base/time.h"

namespace assay {

struct ThreadBooks {
  Duration ran{};
  Duration waited{};  // ready to run, and not running
  // To sleep, or because it was stopped; a thread that is preempted or throttled is ready to run.
  std::uint64_t voluntary_switches = 0;
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
