// Ctrl-C, SIGTERM and a terminal that is closed (SIGHUP) as a request to a run: once, stop issuing
// and drain; twice, stop now. Under nohup a closed terminal stays unheard. While this lives; the
// old handlers come back with its end. One at a time; the main thread's.
#pragma once

#include <array>
#include <csignal>

#include "run/run.h"

namespace assay::cli {

class InterruptGuard {
 public:
  explicit InterruptGuard(run::Control& control);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::array<struct sigaction, 3> old_{};
};

// For a server that goes on until it is told to end: blocks Ctrl-C, SIGTERM and SIGHUP in this
// thread and those it makes, and returns them for sigwait(). Under nohup SIGHUP is not among them.
sigset_t block_ending_signals();

}  // namespace assay::cli
