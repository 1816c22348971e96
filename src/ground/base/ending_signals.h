// The signals by which a person or a system ends a server: Ctrl-C, SIGTERM, SIGHUP.
#pragma once

#include <csignal>

namespace assay {

// For a server that runs until a signal ends it: blocks Ctrl-C, SIGTERM and SIGHUP in this thread
// and those it starts, and returns them for sigwait(). Under nohup the set lacks SIGHUP.
sigset_t block_ending_signals();

}  // namespace assay
