// Completion: scripts with which a shell completes commands, flags, their choices and file names.
// Made from the commands' own descriptions. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/command_help.h"

namespace assay::manual {

enum class Shell : std::uint8_t { bash, zsh, fish };

std::string completion(Shell shell, const std::vector<CommandHelp>& commands);

}  // namespace assay::manual
