// ProgramJudge: whether a whole program that a model wrote runs to its end with its tests, as MBXP
// is judged: the reply up to its first ``` and the tests are one file, and exit code 0 passes.
// Languages are those that the suite counts: python, cpp, javascript, typescript, php, ruby. Each
// needs its own program in PATH; a row whose program is missing is an error that says so.
//
// Programs run in a sandbox (sandbox.h). One thread.
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
  // others are not scored).
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

// The reply's program in one file with its tests, as the suite joins them.
std::string mbxp_program(std::string_view language, std::string_view function,
                         std::string_view reply, std::string_view tests);

}  // namespace assay::score
