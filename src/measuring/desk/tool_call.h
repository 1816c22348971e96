// ToolCall: a call that a recorded answer of an agent holds, found as MLPerf Client finds it. The
// answer is words with JSON in it: every object of type "tool_use", also one in a fence, in a list,
// or in the list `content` of an object, in the order of the text. A call that Client would refuse
// is kept with the reason. Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay::desk {

struct ToolCall {
  std::string name{};     // read, write, patch, execute; as the answer has it
  Json input{};           // its members are the tool's arguments
  std::string problem{};  // why it cannot be run; "" where it can
  bool operator==(const ToolCall&) const = default;
};

// Fails where the braces of the text take too long to match.
Result<std::vector<ToolCall>> tool_calls(std::string_view answer);

}  // namespace assay::desk
