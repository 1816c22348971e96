// The table of commands, and the dispatch from `assay NAME …` to its function.
#pragma once

#include <string_view>
#include <vector>

#include "base/command_help.h"
#include "cli/commands.h"

namespace assay::cli {

struct Command {
  std::string_view name{};
  std::string_view summary{};
  Result<int> (*function)(Args) = nullptr;
};

// In the order of the help.
std::span<const Command> commands();

// What a command takes, by its own --help-json; `more` are flags that choose a form of it.
Result<CommandHelp> help_of(const Command& command, const std::vector<std::string>& more = {});

// Runs the whole program: finds the command, runs it, prints its error. `args` is without argv[0].
// Returns the exit code.
int dispatch(Args args);

}  // namespace assay::cli
