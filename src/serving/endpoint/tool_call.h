// Tool calls that the endpoint makes when it is given tools: of which function, and with arguments
// that fit its JSON schema. Deterministic. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace assay::endpoint {

struct ToolWish {
  bool wanted = false;
  std::string name{};
  std::string arguments{};  // JSON text
  std::string error{};      // why the tools can't be used; else ""
};

// `tools` and `tool_choice` as JSON text ("" where absent). A call is made when one is required or
// a function is named; with "auto" (or nothing) it is made unless the last message is a tool's
// result, so that an agent's loop ends.
ToolWish choose_tool(std::string_view tools, std::string_view tool_choice, bool last_is_tool);

}  // namespace assay::endpoint
