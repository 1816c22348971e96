#include "apps/cli/interrupt.h"

#include <atomic>

#include "base/check.h"

namespace assay::cli {
namespace {

std::atomic<run::Control*> heard_by{nullptr};

void on_signal(int) {
  if (run::Control* control = heard_by.load()) control->ask_to_stop();
}

}  // namespace

InterruptGuard::InterruptGuard(run::Control& control) {
  CHECK(heard_by.exchange(&control) == nullptr);
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, &old_int_);
  ::sigaction(SIGTERM, &action, &old_term_);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &old_int_, nullptr);
  ::sigaction(SIGTERM, &old_term_, nullptr);
  heard_by = nullptr;
}

}  // namespace assay::cli
