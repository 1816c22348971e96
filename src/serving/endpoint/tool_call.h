// Tool calls of the endpoint, for requests with tools: the function, and arguments that fit its
// JSON schema. Deterministic. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::endpoint {

struct ToolWish {
  bool wanted = false;
  std::string name{};
  std::string arguments{};  // JSON text
  std::string error{};      // why the tools can't be used, else ""
};

// `tools` and `tool_choice` as JSON text ("" if absent). A call is made when it is required or
// names a function. With "auto" (or nothing) it is made unless the last message is a tool's result,
// so that an agent's loop ends.
ToolWish choose_tool(std::string_view tools, std::string_view tool_choice, bool last_is_tool);

}  // namespace assay::endpoint
