// The function calls of a reply. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "score/scorer.h"

namespace assay::score {

struct FunctionCall {
  std::string name{};
  Json arguments{};  // an object
};

// Returns the row's calls: its tool calls; else its content as JSON ([{"name", "arguments"}], or
// OpenAI's list); else the calls in it in Python's spelling ("[f(a=1), g('x')]").
std::vector<FunctionCall> function_calls(const Row& row);
// Returns calls in Python's spelling, in order; skips other text.
std::vector<FunctionCall> python_calls(std::string_view text);

}  // namespace assay::score
