// IssueThreads: threads of the program under test that it lends to issue queries
// (RegisterIssueQueryThread). Each waits here, does its share of each series, and leaves when the
// test ends.
//
// enlist() from each lent thread; the rest from the thread that runs the test.
#pragma once

#include <cstdint>
#include <functional>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/time.h"

namespace assay::sut {

class IssueThreads {
 public:
  // Lends the calling thread until the test ends. `enlisted` gets its number first.
  void enlist(const std::function<void(std::uint32_t)>& enlisted) MUST_NOT_HOLD(mutex_);
  // Waits until `count` threads are there, at most for `limit`; returns how many are.
  std::uint32_t gather(std::uint32_t count, const Clock& clock, Duration limit)
      MUST_NOT_HOLD(mutex_);
  // work(0) … work(count − 1), each on a thread of its own; returns when all have returned.
  // REQUIRES: gather() returned at least `count`.
  void run(std::uint32_t count, const std::function<void(std::uint32_t)>& work)
      MUST_NOT_HOLD(mutex_);
  // The test has ended: all threads leave.
  void dismiss() MUST_NOT_HOLD(mutex_);

 private:
  Mutex mutex_{};
  Condition changed_{};
  std::uint32_t enlisted_ GUARDED_BY(mutex_) = 0;
  std::uint32_t wanted_ GUARDED_BY(mutex_) = 0;    // threads for the work
  std::uint32_t finished_ GUARDED_BY(mutex_) = 0;  // of them
  std::uint64_t round_ GUARDED_BY(mutex_) = 0;     // which work
  std::uint64_t test_ GUARDED_BY(mutex_) = 0;      // which test
  const std::function<void(std::uint32_t)>* work_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace assay::sut
