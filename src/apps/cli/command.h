// The table of commands, and the dispatch from `assay NAME …` to its function.
#pragma once

#include <string_view>

#include "cli/commands.h"

namespace assay::cli {

struct Command {
  std::string_view name{};
  std::string_view summary{};
  Result<int> (*function)(Args) = nullptr;
};

// In the order of the help.
std::span<const Command> commands();

// Runs the whole program: finds the command, runs it, prints its error. `args` is without argv[0].
// Returns the exit code.
int dispatch(Args args);

}  // namespace assay::cli
