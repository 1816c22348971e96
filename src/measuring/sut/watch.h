// Watch: finds a callback of the program under test that never returns, which nothing else can: the
// thread that would notice is the one that is held.
//
// A call is overdue when it has lasted for the time-out and no sample was completed for as long: a
// system under test may answer all of Offline inside IssueQuery, for hours. A call cannot be ended
// from outside, so the test cannot go on either; `overdue` is called once, from the watch's own
// thread, with a sentence that names the call.
//
// Threads: each Mark belongs to one thread; the rest to the thread that made the watch.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/time.h"

namespace assay::sut {

class Watch {
 public:
  // What one thread is in.
  class Mark {
   public:
    // `name` must live as long as the program.
    void begin(const char* name, Instant at) {
      name_.store(name, std::memory_order_relaxed);
      since_.store(at.ns, std::memory_order_release);
    }
    void end() { since_.store(kNothing, std::memory_order_release); }

   private:
    friend class Watch;
    static constexpr std::int64_t kNothing = -1;
    std::atomic<std::int64_t> since_{kNothing};
    std::atomic<const char*> name_{""};
  };

  // A call for as long as this lives.
  class Call {
   public:
    Call(Mark& mark, const char* name, Instant at) : mark_(mark) { mark_.begin(name, at); }
    ~Call() { mark_.end(); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Mark& mark_;
  };

  // `completed` gives a number that changes with each completed sample, in any thread. All
  // references must outlive the watch.
  Watch(const Clock& clock, Duration limit, std::function<std::uint64_t()> completed,
        std::function<void(const std::string&)> overdue);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Begins to look, from a thread of its own, ten times within the time-out and at least each
  // second.
  void start();
  // One look: the sentence, or nothing. Public for tests on a simulated clock.
  std::string look(Instant now);

  static constexpr std::uint32_t kThreads = 257;  // issue threads, and behind them the test's own
  Mark& mark(std::uint32_t thread) { return marks_.at(thread); }
  Mark& own() { return marks_.back(); }

 private:
  void watch() MUST_NOT_HOLD(mutex_);

  const Clock& clock_;
  const Duration limit_;
  const std::function<std::uint64_t()> completed_;
  const std::function<void(const std::string&)> overdue_;
  std::array<Mark, kThreads> marks_{};
  std::uint64_t seen_ = 0;  // completions
  Instant progress_{};      // when their number last changed
  Mutex mutex_{};
  Condition changed_{};
  bool over_ GUARDED_BY(mutex_) = false;
  std::thread thread_{};
};

}  // namespace assay::sut
