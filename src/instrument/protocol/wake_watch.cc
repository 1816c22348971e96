#include "protocol/wake_watch.h"

#include <algorithm>

namespace assay::protocol {

void WakeWatch::before_wait(Instant now) {
  if (!first_ || cut_ || unclear_ || now - first_at_ >= kFresh) {
    first_ = look_();
    first_at_ = now;
    sleeps_ = 0;
    earlier_waits_ = {};
  } else if (slept_) {
    earlier_waits_ += last_wait_;
  }
  wait_began_ = now;
}

void WakeWatch::after_wait(Instant now, bool cut) {
  last_wait_ = now - wait_began_;
  slept_ = last_wait_ >= kSlept;
  if (slept_) ++sleeps_;
  unclear_ = !slept_;
  cut_ = cut;  // the next wait begins with a new reading
  answer_.reset();
}

Instant WakeWatch::slept_until(Instant now) {
  if (!answer_) answer_ = work_out(now);
  return *answer_;
}

Instant WakeWatch::work_out(Instant now) const {
  if (!slept_ || cut_ || !first_) return Instant::none();
  const std::optional<ThreadBooks> last = look_();
  if (!last || last->voluntary_switches - first_->voluntary_switches != sleeps_)
    return Instant::none();
  const Duration waited = last->waited - first_->waited;
  const Duration ran = last->ran - first_->ran;
  // Time that is neither sleep nor waiting was spent on the core; the part before this wait does
  // not count.
  const Duration ran_before = wait_began_ - first_at_ - earlier_waits_ - waited;
  const Duration ran_after = ran - std::clamp(ran_before, Duration{}, ran);
  return std::max(wait_began_, now - waited - ran_after - kToWake);
}

}  // namespace assay::protocol
