// Server: an MCP session on two descriptors (standard input and output), with a process for each
// call. Progress is what a command says on its standard error. One thread.
#pragma once

#include <filesystem>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "mcp/child.h"
#include "mcp/session.h"

namespace assay::mcp {

struct ServerOptions {
  std::filesystem::path program{};  // the `assay` that runs the commands
  std::vector<Tool> tools{};
  Rights rights{};
  Fence fence{};
  int in = 0;
  int out = 1;
  std::uint32_t at_once_max = 8;  // calls and services that run together
};

// Until `in` ends, or `out` takes no more. Then everything that still runs is ended.
Result<void> serve(const ServerOptions& options, Clock& clock);

}  // namespace assay::mcp
