#include "campaign/interrupt.h"

#include <array>
#include <atomic>
#include <csignal>

#include "base/check.h"

namespace assay::campaign {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP};

std::atomic<run::Control*> heard_by{nullptr};

void on_signal(int) {
  if (run::Control* control = heard_by.load()) control->ask_to_stop();
}

}  // namespace

InterruptGuard::InterruptGuard(run::Control& control) {
  CHECK(heard_by.exchange(&control) == nullptr);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    ::sigaction(kSignals[i], nullptr, &old_[i]);
    const bool nohup = kSignals[i] == SIGHUP && old_[i].sa_handler == SIG_IGN;
    if (!nohup) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &old_[i], nullptr);
  heard_by = nullptr;
}

}  // namespace assay::campaign
