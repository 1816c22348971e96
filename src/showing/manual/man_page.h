// Manual pages (section 1, roff with the man macros), made from the commands' own descriptions.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/command_help.h"

namespace assay::manual {

// The page of one command: assay-run(1).
std::string man_page(const CommandHelp& command, std::string_view version);
// The page of the program: assay(1), with all commands and the exit codes.
std::string man_page(const std::vector<CommandHelp>& commands, std::string_view version);

}  // namespace assay::manual
