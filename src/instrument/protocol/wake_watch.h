// WakeWatch: until when this thread slept in its last wait. The bytes that ended the wait cannot
// have come while the thread still slept, so that instant is a lower bound of their arrival, for
// any number of segments that the kernel put together in one read.
//
// The kernel counts the times of each thread (base/thread_books.h). Between two readings the wall
// clock is spent in sleep, in waiting for a core, or on it: so the last sleep did not end before
// now − (waited for a core) − (ran). That holds only if the thread gave its core up in the waits
// that it knows of and nowhere else. A stop (SIGSTOP, a debugger, the freezer) makes it give its
// core up once more, and then there is no bound. There is none either after a wait that a signal
// cut short, or where the kernel keeps no counts. A preemption or a quota takes the core from a
// thread that is ready to run: that is waiting, and is counted as such.
//
// The first reading is taken at most every kFresh, or after a very short wait, before a wait, and
// the second only when slept_until() is called. One thread, which is the one that waits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/thread_books.h"
#include "base/time.h"

namespace assay::protocol {

class WakeWatch {
 public:
  using Look = std::function<std::optional<ThreadBooks>()>;

  // A reading this old still bounds a wait to within the cost of a few wakes.
  static constexpr Duration kFresh{2'000'000};
  // A wait this long slept, or lost its core. A shorter one leaves that open: bytes may have come
  // between the look before it and the wait. Then the next wait begins with a new reading.
  static constexpr Duration kSlept{100'000};
  // From the kernel's stamp of a segment to the wake of the thread that waits for it.
  static constexpr Duration kToWake{50'000};

  explicit WakeWatch(Look look) : look_(std::move(look)) {}

  // The next wait may be another thread's.
  void forget() { first_.reset(); }
  // Around a wait before which a look found nothing ready.
  void before_wait(Instant now);
  // `cut`: by a signal.
  void after_wait(Instant now, bool cut);
  // No byte that ended the last wait came before this instant, nor one that a look since then
  // found; none() if it is unknown. `now`: the clock, at the call or before. The answer is kept
  // until the next wait.
  Instant slept_until(Instant now);

 private:
  Instant work_out(Instant now) const;

  Look look_;
  std::optional<ThreadBooks> first_{};
  Instant first_at_{};
  std::uint64_t sleeps_ = 0;  // waits since the first look that slept
  Duration earlier_waits_{};  // total length of those without the last
  Instant wait_began_{};
  Duration last_wait_{};
  bool slept_ = false;    // the last wait did
  bool unclear_ = false;  // the last wait was so short that it may have slept or not
  bool cut_ = false;      // a wait since the first reading was
  std::optional<Instant> answer_{};
};

}  // namespace assay::protocol
