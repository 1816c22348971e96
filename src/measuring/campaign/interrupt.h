// Turns Ctrl-C, SIGTERM and SIGHUP (a closed terminal) into requests to a run, as long as this
// object lives: the first stops issuing and drains; the second stops now. Under nohup SIGHUP stays
// ignored. The destructor restores the old handlers. One object at a time; for the main thread.
#pragma once

#include <array>
#include <csignal>

#include "run/run.h"

namespace assay::campaign {

class InterruptGuard {
 public:
  explicit InterruptGuard(run::Control& control);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  std::array<struct sigaction, 3> old_{};
};

}  // namespace assay::campaign
