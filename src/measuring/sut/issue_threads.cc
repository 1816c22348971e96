#include "sut/issue_threads.h"

namespace assay::sut {

void IssueThreads::enlist(const std::function<void(std::uint32_t)>& enlisted) {
  Lock lock(mutex_);
  const std::uint64_t test = test_;
  const std::uint32_t number = enlisted_++;
  std::uint64_t done = round_;
  enlisted(number);
  changed_.notify_all();
  for (;;) {
    while (test_ == test && !(work_ != nullptr && round_ != done && number < wanted_)) {
      changed_.wait(lock);
    }
    if (test_ != test) return;
    done = round_;
    const auto& work = *work_;
    lock.unlock();
    work(number);
    lock.lock();
    ++finished_;
    changed_.notify_all();
  }
}

std::uint32_t IssueThreads::gather(std::uint32_t count, const Clock& clock, Duration limit) {
  const Instant until = clock.now() + limit;
  Lock lock(mutex_);
  while (enlisted_ < count) {
    const Instant now = clock.now();
    if (now >= until) break;
    changed_.wait_for(lock, until - now);
  }
  return enlisted_;
}

void IssueThreads::run(std::uint32_t count, const std::function<void(std::uint32_t)>& work) {
  Lock lock(mutex_);
  work_ = &work;
  wanted_ = count;
  finished_ = 0;
  ++round_;
  changed_.notify_all();
  while (finished_ < count) changed_.wait(lock);
  work_ = nullptr;
}

void IssueThreads::dismiss() {
  Lock lock(mutex_);
  ++test_;
  enlisted_ = 0;
  changed_.notify_all();
}

}  // namespace assay::sut
