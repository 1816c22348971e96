#include "base/ending_signals.h"

#include <pthread.h>

namespace assay {

sigset_t block_ending_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (signal != SIGHUP || action.sa_handler != SIG_IGN) sigaddset(&ends, signal);
  }
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

}  // namespace assay
