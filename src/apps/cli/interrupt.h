// Ctrl-C and SIGTERM as a request to a run: once, stop issuing and drain; twice, stop now. While
// this lives; the old handlers come back with its end. One at a time; the main thread's.
#pragma once

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
  struct sigaction old_int_ {};
  struct sigaction old_term_ {};
};

}  // namespace assay::cli
