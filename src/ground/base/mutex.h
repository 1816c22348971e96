// Mutex, Lock, Condition: the standard ones with clang's annotations (-Wthread-safety), so that the
// compiler checks that guarded data is touched only under its lock. libstdc++'s own have no
// annotations, so ours are used everywhere.
//
//     Mutex mutex_;
//     Condition wake_;
//     std::deque<Block> blocks_ GUARDED_BY(mutex_);
//     void write_front() REQUIRES_LOCK(mutex_);
//
//     Lock lock(mutex_);
//     while (blocks_.empty()) wake_.wait(lock);  // no predicate: a lambda's body can't be checked
//
// Do not use them on the measuring path, which never waits.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "base/time.h"

#if defined(__clang__)
#define ASSAY_THREAD_MARK(mark) __attribute__((mark))
#else
#define ASSAY_THREAD_MARK(mark)
#endif
#define GUARDED_BY(mutex) ASSAY_THREAD_MARK(guarded_by(mutex))
#define REQUIRES_LOCK(mutex) ASSAY_THREAD_MARK(requires_capability(mutex))
#define MUST_NOT_HOLD(mutex) ASSAY_THREAD_MARK(locks_excluded(mutex))

namespace assay {

class ASSAY_THREAD_MARK(capability("mutex")) Mutex {
 public:
  void lock() ASSAY_THREAD_MARK(acquire_capability()) { native_.lock(); }
  void unlock() ASSAY_THREAD_MARK(release_capability()) { native_.unlock(); }

 private:
  friend class Condition;
  std::mutex native_{};
};

// Holds the mutex while it lives; may release it and take it again in between.
class ASSAY_THREAD_MARK(scoped_lockable) Lock {
 public:
  explicit Lock(Mutex& mutex) ASSAY_THREAD_MARK(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~Lock() ASSAY_THREAD_MARK(release_capability()) {
    if (held_) mutex_.unlock();
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

  void unlock() ASSAY_THREAD_MARK(release_capability()) {
    held_ = false;
    mutex_.unlock();
  }
  void lock() ASSAY_THREAD_MARK(acquire_capability()) {
    mutex_.lock();
    held_ = true;
  }

 private:
  friend class Condition;
  Mutex& mutex_;
  bool held_ = true;
};

// REQUIRES for wait(): `lock` holds its mutex. Spurious wake-ups happen: wait in a loop.
class Condition {
 public:
  void wait(Lock& lock) {
    std::unique_lock native(lock.mutex_.native_, std::adopt_lock);
    native_.wait(native);
    native.release();
  }
  void wait_for(Lock& lock, Duration limit) {
    std::unique_lock native(lock.mutex_.native_, std::adopt_lock);
    native_.wait_for(native, std::chrono::nanoseconds(limit.ns));
    native.release();
  }
  void notify_one() { native_.notify_one(); }
  void notify_all() { native_.notify_all(); }

 private:
  std::condition_variable native_{};
};

}  // namespace assay
