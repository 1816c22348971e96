// SignalsBlocked: while it lives, its thread takes no signals, and a thread that is started
// meanwhile never does. Signals belong to the thread that waits for them; a server's own threads
// would take them away. One thread.
#pragma once

#include <pthread.h>
#include <signal.h>

namespace assay {

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace assay
