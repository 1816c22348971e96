// CodeJudge: does code from a model pass the tests of its sample, by LiveCodeBench's rules? Every
// test must pass. A program's output is compared line by line, numbers by value; a function's
// result is compared as JSON.
//
// The code runs in a jail (jail.h), which sees the inputs and never the expected outputs; the
// output is compared here. One jail and one process for each reply, as there: what a test leaves
// behind, the next one meets.
//
// Tests come from the sample's columns, in one of these forms: `tests` (a list of {input, output,
// testtype}), `public_test_cases` and `private_test_cases` (the same as JSON text, or packed by
// LiveCodeBench), or `input_output` ({inputs, outputs, fn_name}). `fn_name`, or func_name in
// `metadata`, names a function. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "score/code/sandbox.h"
#include "score/scorer.h"

namespace assay::score {

class CodeJudge {
 public:
  // `extras`: python (a program, "python3"), timeout_s (for a test, 6), memory_mb (4096), tests_max
  // (for a sample, 0: all). Fails if this machine has no jail.
  static Result<std::unique_ptr<CodeJudge>> make(const Json& extras);

  Result<bool> passes(const std::string& code, const Row& row);
  // The jail's layers, for the result.
  std::string note() const;

 private:
  struct Test {
    std::string input{};
    std::string output{};
  };
  struct Tests {
    std::vector<Test> tests{};
    std::string function{};  // empty: a program that reads its input
  };

  CodeJudge() = default;
  Result<const Tests*> tests_of(const Row& row);
  Result<Tests> read_tests(const Row& row);
  Result<std::string> unpack(std::string_view packed);
  Result<ProgramEnd> run(const std::string& code, const Tests& tests) const;
  Result<void> prove() const;

  std::string python_ = "python3";
  double seconds_ = 6;
  std::uint64_t memory_bytes_ = std::uint64_t{4} << 30;
  std::size_t tests_max_ = 0;
  std::string layers_{};
  std::uint64_t ran_ = 0;
  std::unordered_map<std::uint32_t, Tests> tests_{};  // by sample, for repeats
};

// The error with instructions to allow code.
Error code_refused();

// Compares a program's output by LiveCodeBench's rules.
bool same_output(std::string_view got, std::string_view wanted);
// Compares two JSON values as Python does: 1 equals 1.0.
bool same_value(const Json& got, const Json& wanted);

}  // namespace assay::score
