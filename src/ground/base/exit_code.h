// The exit codes of `assay`: one number for each kind of ending, the same for every command, so
// that a script can branch on it. Only this file turns an Error, or the end of a run, into an exit
// code.
//
// Where several apply to one run, the shell gets the gravest (kGravest), and `--json` lists all of
// them, each with its reason.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay {

enum class ExitCode : int {
  done = 0,
  findings = 1,         // the command worked and found something wrong; or a fault of our own
  bad_input = 2,        // flags, config, dataset: what the user gave; a file that is not there
  unreachable = 3,      // an endpoint can't be reached, a file can't be read or written
  client_limited = 4,   // measured, but the client was, or may have been, the bottleneck
  worse = 5,            // measured, and worse than the baseline
  not_comparable = 6,   // two results that must not be compared
  too_many_failed = 7,  // more than 10 % of the queries failed, or none succeeded
  exhausted = 8,        // out of memory, or a disk took no more
  interrupted = 130,    // Ctrl-C, a time limit, a budget; everything recorded is kept
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
    case Code::exhausted:
      return exit_code(ExitCode::exhausted);
  }
  return exit_code(ExitCode::findings);
}

// The gravest first.
inline constexpr std::array kGravest{
    ExitCode::exhausted,      ExitCode::interrupted,    ExitCode::too_many_failed,
    ExitCode::unreachable,    ExitCode::client_limited, ExitCode::worse,
    ExitCode::not_comparable, ExitCode::bad_input,      ExitCode::findings,
};

struct ExitCause {
  ExitCode code = ExitCode::done;
  std::string why{};  // for a person
  friend bool operator==(const ExitCause&, const ExitCause&) = default;
};

// Ending: all causes of a command's exit code.
class Ending {
 public:
  // REQUIRES: not done. A cause that was added before is kept once.
  void add(ExitCode code, std::string why);
  void add(const Ending& other);
  const std::vector<ExitCause>& causes() const { return causes_; }  // the gravest first
  bool has(ExitCode code) const;
  bool clean() const { return causes_.empty(); }
  int code() const;
  // {code, causes: [{code, why}]}
  Json json() const;

 private:
  std::vector<ExitCause> causes_{};
};

}  // namespace assay
