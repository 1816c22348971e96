// The table of commands and the way from `assay NAME …` to the function that does it.
#pragma once

#include <string_view>

#include "cli/commands.h"

namespace assay::cli {

struct Command {
  std::string_view name{};
  std::string_view summary{};
  Result<int> (*function)(Args) = nullptr;
};

// In the order in which the help shows them.
std::span<const Command> commands();

// The whole program: finds the command, runs it, prints its error. `args` is without argv[0].
// Returns the exit code.
int dispatch(Args args);

}  // namespace assay::cli
