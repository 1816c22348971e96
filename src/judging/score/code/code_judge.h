// CodeJudge: whether code that a model wrote passes the tests of its sample, as LiveCodeBench
// judges: every test must pass; a program's output is compared line by line, numbers by value; a
// function's result is compared as JSON.
//
// The code runs in a jail (jail.h), which sees the inputs and never the expected outputs: what it
// printed is compared here. One jail for each reply, one fork for each test.
//
// Tests are read from the sample's columns, in the spellings that are about: `tests` (a list of
// {input, output, testtype}), `public_test_cases` and `private_test_cases` (the same as JSON text,
// or packed as LiveCodeBench packs them), or `input_output` ({inputs, outputs, fn_name}). A
// function is named by `fn_name`, or by func_name in `metadata`. One thread.
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
  // Of `extras`: python (a program, "python3"), timeout_s (of a test, 6), memory_mb (4096),
  // tests_max (of a sample, 0: all). Fails where this machine has no jail.
  static Result<std::unique_ptr<CodeJudge>> make(const Json& extras);

  Result<bool> passes(const std::string& code, const Row& row);
  // What held the code, for the result.
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
  std::unordered_map<std::uint32_t, Tests> tests_{};  // by sample: repeats ask again
};

// The error that says how to allow it.
Error code_refused();

// As LiveCodeBench compares what a program printed.
bool same_output(std::string_view got, std::string_view wanted);
// As Python compares two values that JSON spelled: 1 is 1.0.
bool same_value(const Json& got, const Json& wanted);

}  // namespace assay::score
