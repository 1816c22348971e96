// Recorder writes the proxy's trace: a thread of its own makes a row of each exchange and appends
// it as one line, so that a proxy that is killed loses the last line at most. The forwarding thread
// only puts the exchange into a queue; where the queue is full the exchange is not recorded, and
// counted: recording never holds up what passes.
//
// PATH is a file, or a folder (a path without ".jsonl") that gets trace.jsonl and, at the end,
// about.json: what was counted, and how.
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/files.h"
#include "base/mutex.h"
#include "base/result.h"
#include "proxy/trace_rows.h"

namespace assay::proxy {

class Recorder {
 public:
  // Refuses to write over a file.
  static Result<std::unique_ptr<Recorder>> open(const std::filesystem::path& path,
                                                TraceOptions options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Any thread.
  void record(std::unique_ptr<Seen> seen);
  // Writes what is queued, then about.json. Fails where a line could not be written.
  Result<void> stop();

  const std::filesystem::path& file() const { return file_name_; }
  // After stop().
  Json about() const;

 private:
  Recorder(std::filesystem::path file_name, std::filesystem::path folder, File file,
           TraceOptions options);
  void run();

  const std::filesystem::path file_name_;
  const std::filesystem::path folder_;  // empty: only the file
  File file_;                           // of the thread, until it has ended
  TraceRows rows_;
  std::string trouble_{};
  Mutex mutex_{};
  Condition wake_{};
  std::deque<std::unique_ptr<Seen>> queue_ GUARDED_BY(mutex_){};
  std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::uint64_t dropped_in_all_ = 0;
  std::thread thread_{};
};

}  // namespace assay::proxy
