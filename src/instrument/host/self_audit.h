// SelfAudit: watches the process and the machine during a run (design, section 4: the client proves
// its innocence). A canary thread reads the clock in short bursts and counts the gaps; the other
// figures come from the kernel's counters at the start and at the end.
//
// start() and stop() from one thread. A ThreadWatch belongs to the measuring thread it watches.
#pragma once

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <thread>

#include "base/clock.h"
#include "base/histogram.h"
#include "domain/client_audit.h"
#include "host/taken_time.h"

namespace assay::host {

// The lag of a loop, recorded by the one thread that owns it.
class LagRecorder {
 public:
  // Records that an action due at `due` was done at `now`.
  void record(Instant due, Instant now) {
    const std::int64_t ns = now > due ? (now - due).ns : 0;
    histogram_.record(static_cast<std::uint64_t>(ns));
    max_ = std::max(max_, ns);
    if (ns < kLate.ns) return;
    if (due >= held_until_) ++holdups_;
    held_until_ = now;
    if (ns <= kStall.ns) return;
    // One stall makes many sends late: its time counts once.
    if (due >= stalled_until_) ++stalls_;
    stalled_ += (now - std::max(due, stalled_until_)).ns;
    stalled_until_ = now;
  }
  LagFigures figures() const;

 private:
  Histogram histogram_{};
  std::int64_t max_ = 0;
  std::int64_t holdups_ = 0;
  Instant held_until_{};
  std::uint64_t stalls_ = 0;
  std::int64_t stalled_ = 0;
  Instant stalled_until_{};
};

// CPU time and run-queue delay of the calling thread, from construction to finish().
class ThreadWatch {
 public:
  ThreadWatch();
  // Sets its own figures in `out` and keeps the others.
  void finish(ThreadFigures& out) const;

 private:
  struct Books {
    Instant at{};
    Duration cpu{};
    Duration run_queue{-1};
    std::int64_t slices{};
    std::uint64_t preempted = 0;
  };
  static Books read();
  Books start_;
};

// One burst of the canary: reads the clock for 50 µs, adds a gap of more than 50 µs between two
// readings, and sleeps for 10 ms. `preemptions` is how often the scheduler has preempted this
// thread: a gap in which that number grew is not added.
void canary_burst(CanaryFigures& canary, Clock& clock, const std::function<long()>& preemptions);

class SelfAudit {
 public:
  // Use `no` when every core has a measuring thread: the canary would take time from one.
  enum class Canary { no, yes };
  // `root`: the folder of the machine's own files; tests have their own.
  explicit SelfAudit(Canary canary = Canary::yes, std::filesystem::path root = "/");
  ~SelfAudit();
  SelfAudit(const SelfAudit&) = delete;
  SelfAudit& operator=(const SelfAudit&) = delete;

  // Fills wall, canary, own and foreign CPU, pressure, stolen and throttled time, cores,
  // descriptors and ports.
  void stop(ClientAudit& out);

 private:
  struct Books {
    Instant at{};
    double busy_s = -1;  // all cores together
    double own_s = 0;
    double pressure_s = -1;
  };
  Books read() const;
  void watch();

  std::filesystem::path root_;
  Books start_;
  TakenTime taken_start_;
  std::atomic<bool> stopping_{false};
  CanaryFigures canary_{};
  std::thread thread_;
};

}  // namespace assay::host
