// Process: what LoadGen's interface has one of in a process, because its calls name no test: the
// desks that ids lead to, the threads lent to issue queries, what configuration files had wrong
// before a log was open, and the test that runs.
//
// Threads: any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "run/run.h"
#include "sut/desk.h"
#include "sut/issue_threads.h"
#include "sut/log_files.h"

namespace assay::sut {

class Process {
 public:
  // The one of this process. It is never destroyed: a thread may complete a sample at any time.
  static Process& instance();

  const OsClock& clock() const { return clock_; }
  IssueThreads& issue_threads() { return issue_threads_; }

  // The desk with this number, made at the first call. REQUIRES: number < kDesks.
  static constexpr std::uint32_t kDesks = 256;
  Desk& desk(std::uint32_t number) MUST_NOT_HOLD(mutex_);
  // The same if it was made, else null. Without a lock.
  Desk* find_desk(std::uint8_t number) const {
    return desks_.at(number).load(std::memory_order_acquire);
  }

  // Before a test's log is open.
  void note(std::string key, std::string text, Severity severity) MUST_NOT_HOLD(mutex_);
  void write_notes(LogFiles& log) MUST_NOT_HOLD(mutex_);
  // Counts the user's configuration files: true for the first.
  bool first_user_file() MUST_NOT_HOLD(mutex_);

  // At most one test runs: false if one does.
  bool begin_test() MUST_NOT_HOLD(mutex_);
  void end_test() MUST_NOT_HOLD(mutex_);
  // The runs of the current series, so that abort() can stop them.
  void set_controls(std::vector<run::Control*> controls) MUST_NOT_HOLD(mutex_);
  void abort() MUST_NOT_HOLD(mutex_);
  bool aborted() const MUST_NOT_HOLD(mutex_);

 private:
  struct Note {
    std::string key{};
    std::string text{};
    Severity severity = Severity::plain;
  };

  OsClock clock_{};
  IssueThreads issue_threads_{};
  std::array<std::atomic<Desk*>, kDesks> desks_{};
  mutable Mutex mutex_{};
  std::vector<Note> notes_ GUARDED_BY(mutex_){};
  bool had_user_file_ GUARDED_BY(mutex_) = false;
  bool running_ GUARDED_BY(mutex_) = false;
  bool aborted_ GUARDED_BY(mutex_) = false;
  std::vector<run::Control*> controls_ GUARDED_BY(mutex_){};
};

}  // namespace assay::sut
