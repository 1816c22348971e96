// Explanation: what a verdict or a cause that Assay prints means, what it follows from, and what to
// do. Rules of submissions explain themselves (rules/catalogue.h); these are all others. Plain
// data; any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace assay::cli {

struct Explanation {
  std::string_view kind{};  // "failed query", "exit code"
  std::string_view code{};  // as it is printed
  std::string_view means{};
  std::string_view next{};  // what to do; "" for what needs nothing
};

std::span<const Explanation> explanations();

// Those whose code is `code`, whatever its case, with '-', '_' and spaces alike.
std::vector<Explanation> explanations_of(std::string_view code);
bool same_code(std::string_view a, std::string_view b);

}  // namespace assay::cli
