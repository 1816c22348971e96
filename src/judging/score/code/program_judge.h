// ProgramJudge: does a model's whole program run to its end with its tests, by MBXP's rules? The
// suite counts these languages: python, cpp, javascript, typescript, php, ruby. Each needs its own
// program in PATH; if it is missing, the row is an error.
//
// A pass needs exit code 0 and a proof that the tests reached their end: a random word, new for
// each program. Ending early with 0 is no pass. In Python the tests run in a process that the reply
// cannot reach (program_harness.h). In the other languages reply and tests are one program, joined
// as in the suite, and the end joins the proof from two halves: one in the program's text, one on
// its standard input. Decision 47 lists what this prevents, and what it does not.
//
// Programs run in a jail (jail.h). One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::score {

struct Program;  // score/code/sandbox.h

class ProgramJudge {
 public:
  // `extras`: timeout_s (20), memory_mb (4096), languages (those to run; rows of others are not
  // scored). Fails if this machine has no jail.
  static Result<std::unique_ptr<ProgramJudge>> make(const Json& extras);

  // True if the suite counts this language, and the user did not leave it out.
  bool counts(std::string_view language) const;
  // REQUIRES: counts(language). The tests call `function`.
  Result<bool> passes(std::string_view language, std::string_view function, std::string_view reply,
                      std::string_view tests);
  // The same for a whole Python program that stays as it is. `tests` define check(candidate).
  Result<bool> passes_python(std::string_view function, std::string_view program,
                             std::string_view tests);
  // The jail's layers, for the result.
  std::string note() const;

 private:
  ProgramJudge() = default;
  Result<bool> run(std::string_view language, const Program& program, std::string_view proof);

  std::vector<std::string> languages_{};
  double seconds_ = 20;
  std::uint64_t memory_bytes_ = std::uint64_t{4} << 30;
  std::string layers_{};
  std::uint64_t ran_ = 0;
};

// The reply's program: the text up to its first ```, cleaned as in the suite.
std::string mbxp_reply(std::string_view language, std::string_view reply);

// Joins reply and tests to a program that prints `proof` and the rest of its standard input after
// the tests. Not for Python. For TypeScript, mbxp_end(…) adds the part after the tests once they
// are translated. Empty: the tests of a C++ program have no main().
std::string mbxp_program(std::string_view language, std::string_view reply, std::string_view tests,
                         std::string_view proof);
std::string mbxp_end(std::string_view language, std::string_view proof);

}  // namespace assay::score
