// What `assay` tells the shell: one number a kind of ending, the same for every command, so that a
// script can branch on it. The one place where an Error becomes an exit code.
#pragma once

#include "base/result.h"

namespace assay::cli {

enum class ExitCode : int {
  done = 0,
  findings = 1,        // the command worked and found something wrong; or a fault of our own
  bad_input = 2,       // flags, config, dataset: what the user gave; a file that is not there
  unreachable = 3,     // an endpoint can't be reached, a file can't be read or written
  client_limited = 4,  // measured, but the client was, or may have been, the bottleneck
  worse = 5,           // measured, and worse than the baseline
  not_comparable = 6,  // two results that must not be compared
  interrupted = 130,   // Ctrl-C; everything recorded is kept
};

constexpr int exit_code(ExitCode code) { return static_cast<int>(code); }

// not_found counts as bad input: a name that the user typed (file, model, sample) does not exist.
constexpr int exit_code(Code code) {
  switch (code) {
    case Code::invalid:
    case Code::not_found:
    case Code::corrupt:
    case Code::unsupported:
      return exit_code(ExitCode::bad_input);
    case Code::refused:
    case Code::timed_out:
    case Code::io:
      return exit_code(ExitCode::unreachable);
  }
  return exit_code(ExitCode::findings);
}

}  // namespace assay::cli
