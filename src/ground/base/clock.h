// Clock: tells the time, and sleeps. Nothing outside base/ reads a clock in any other way.
//
// OsClock is CLOCK_MONOTONIC. SimClock stands still until its owner moves it: an hour passes in
// milliseconds, and every run from one seed is the same.
//
// Threads: OsClock may be shared. A SimClock belongs to one thread.
#pragma once

#include "base/time.h"

namespace assay {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  // Returns at once if `until` has passed.
  virtual void sleep_until(Instant until) = 0;
  // How long before a due instant to stop sleeping and poll instead, because a sleeper wakes late.
  virtual Duration spin_window() const = 0;
};

class OsClock final : public Clock {
 public:
  // The default window is the cost of a wake from sleep on a common virtual machine, with a margin;
  // Duration::max() never sleeps before a send.
  explicit OsClock(Duration spin_window = 150_us) : spin_window_(spin_window) {}
  Instant now() const override;
  void sleep_until(Instant until) override;
  Duration spin_window() const override { return spin_window_; }

 private:
  Duration spin_window_;
};

class SimClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  void sleep_until(Instant until) override {
    if (until > now_) now_ = until;
  }
  Duration spin_window() const override { return {}; }

 private:
  Instant now_{};
};

// Wall-clock time, for file headers and folder names. Never use it for a measurement.
WallTime wall_now();

// wall − monotonic. `error` bounds the mistake: the wall clock was read between two readings of the
// monotonic clock that lie 2 × error apart.
struct ClockOffset {
  Duration wall_minus_monotonic{};
  Duration error{};
};
ClockOffset sample_clock_offset();

}  // namespace assay
