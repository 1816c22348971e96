// Explanation: what a verdict or a cause that Assay prints means, what it follows from, and what to
// do. Rules of submissions explain themselves (rules/catalogue.h); these are all others. Plain
// data; any thread.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "base/result.h"

namespace assay::report {

struct Explanation {
  std::string_view kind{};  // "failed query", "exit code"
  std::string_view code{};  // as it is printed
  std::string_view means{};
  std::string_view next{};  // what to do; "" for what needs nothing
};

std::span<const Explanation> explanations();

// The answer to `assay explain`: every code's meaning, or that of one, with the rules of
// submissions among them.
struct ExplainAsked {
  std::string code{};  // as it was printed
  bool list = false;
  bool json = false;
  std::size_t columns = 80;
};

// Fails with the nearest code where there is none.
Result<std::string> explain(const ExplainAsked& asked);

}  // namespace assay::report
