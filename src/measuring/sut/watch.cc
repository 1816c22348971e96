#include "sut/watch.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace assay::sut {

Watch::Watch(const Clock& clock, Duration limit, std::function<std::uint64_t()> completed,
             std::function<void(const std::string&)> overdue)
    : clock_(clock),
      limit_(limit),
      completed_(std::move(completed)),
      overdue_(std::move(overdue)),
      progress_(clock.now()) {}

Watch::~Watch() {
  {
    Lock lock(mutex_);
    over_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Watch::start() {
  thread_ = std::thread([this] { watch(); });
}

void Watch::watch() {
  const Duration pause = std::clamp(limit_ / 10, 1_ms, 1_s);
  for (;;) {
    {
      Lock lock(mutex_);
      if (!over_) changed_.wait_for(lock, pause);
      if (over_) return;
    }
    const std::string why = look(clock_.now());
    if (why.empty()) continue;
    return overdue_(why);
  }
}

std::string Watch::look(Instant now) {
  const std::uint64_t completed = completed_();
  if (completed != seen_) {
    seen_ = completed;
    progress_ = now;
  }
  for (const Mark& mark : marks_) {
    const std::int64_t since = mark.since_.load(std::memory_order_acquire);
    if (since == Mark::kNothing) continue;
    if (now - std::max(Instant{since}, progress_) < limit_) continue;
    return format("{} has not returned for {:.6g} s, and no sample was completed for {:.6g} s",
                  mark.name_.load(std::memory_order_relaxed), (now - Instant{since}).seconds(),
                  limit_.seconds());
  }
  return {};
}

}  // namespace assay::sut
