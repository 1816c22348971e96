// WakeWatch: until when this thread slept in the wait that it just came back from. What a wait ends
// with cannot have come while the thread still slept, so that instant bounds its arrival from
// below, however many segments the kernel put together in one read.
//
// The kernel keeps books of each thread (base/thread_books.h). Between two looks into them the wall
// clock is spent in sleep, in waiting for a core, or on it: so the last sleep did not end before
// now − (waited for a core) − (ran). That holds only if the thread gave its core up in the waits
// that it knows of and nowhere else. A stop (SIGSTOP, a debugger, the freezer), a quota or a
// preemption puts it onto a core once more, and then nothing is said. Nor is it where a signal cut
// a wait short, or where the kernel keeps no books.
//
// The books are opened at most every kFresh, before a wait, and looked into again only when
// somebody asks. One thread, which is the one that waits.
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

  // A look this old still tells of a wait to within what a few wakes cost.
  static constexpr Duration kFresh{2'000'000};
  // A wait this long slept; a shorter one may have found something ready.
  static constexpr Duration kSlept{20'000};
  // From the kernel's stamp of a segment to the wake of who waits for it.
  static constexpr Duration kToWake{50'000};

  explicit WakeWatch(Look look) : look_(std::move(look)) {}

  // The next wait may be another thread's.
  void forget() { first_.reset(); }
  void before_wait(Instant now);
  void after_wait(Instant now, bool interrupted);
  // Nothing that the last wait ended with came before this instant; none() where that is not known.
  // `now`: the clock, at the call or before. The answer is kept until the next wait.
  Instant slept_until(Instant now);

 private:
  Instant work_out(Instant now) const;

  Look look_;
  std::optional<ThreadBooks> first_{};
  Instant first_at_{};
  std::uint64_t sleeps_ = 0;  // waits since the first look that slept
  Duration earlier_waits_{};  // of those, all but the last took so long together
  Instant wait_began_{};
  Duration last_wait_{};
  bool slept_ = false;        // the last wait did
  bool interrupted_ = false;  // a wait since the first look was
  std::optional<Instant> answer_{};
};

}  // namespace assay::protocol
