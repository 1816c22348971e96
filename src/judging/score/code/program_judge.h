// ProgramJudge: whether a whole program that a model wrote runs to its end with its tests, as MBXP
// is judged. The languages are those that the suite counts: python, cpp, javascript, typescript,
// php, ruby. Each needs its own program in PATH; where it is missing the row is an error.
//
// A pass needs two things: exit code 0, and a proof that the end of the tests was reached, a random
// word that is new for each program. Ending early with 0 is no pass. In Python the tests run in a
// process that the reply cannot reach (program_harness.h). In the other languages reply and tests
// are one program, as the suite joins them, and the proof is put together from two halves at the
// end: one in the program's text, one on its standard input. Decision 47 says what that holds
// against, and what it does not.
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

class ProgramJudge {
 public:
  // Of `extras`: timeout_s (20), memory_mb (4096), languages (those that are run; the rows of
  // others are not scored). Fails where this machine has no jail.
  static Result<std::unique_ptr<ProgramJudge>> make(const Json& extras);

  // Whether the suite counts this language, and the user did not leave it out.
  bool counts(std::string_view language) const;
  // REQUIRES: counts(language). `function` is what the tests call.
  Result<bool> passes(std::string_view language, std::string_view function, std::string_view reply,
                      std::string_view tests);
  // What held the code, for the result.
  std::string note() const;

 private:
  ProgramJudge() = default;

  std::vector<std::string> languages_{};
  double seconds_ = 20;
  std::uint64_t memory_bytes_ = std::uint64_t{4} << 30;
  std::string layers_{};
  std::uint64_t ran_ = 0;
};

// The reply's program: up to its first ```, as the suite cleans it.
std::string mbxp_reply(std::string_view language, std::string_view reply);

// One program of reply and tests that prints `proof` and the rest of its standard input when the
// tests have come to their end. Not of Python; of TypeScript what follows the tests is
// mbxp_end(…), which joins after the translation. Empty: the tests of a C++ program have no main().
std::string mbxp_program(std::string_view language, std::string_view reply, std::string_view tests,
                         std::string_view proof);
std::string mbxp_end(std::string_view language, std::string_view proof);

}  // namespace assay::score
