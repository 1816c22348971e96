// Tool: a command of `assay` as an agent sees it: a name, a JSON schema of its arguments, hints;
// and the way back, from an agent's arguments to a command line. Pure.
//
// An argument is named as its flag without dashes, with underscores: --api-key-env is
// `api_key_env`; a positional argument in lower case: URL is `url`. Durations are texts ("30s").
// --json is always given and is no argument. --allow-code is none either: an agent runs no code of
// models.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/command_help.h"
#include "base/json.h"
#include "base/result.h"

namespace assay::mcp {

// What a command does to the world.
struct Effects {
  bool writes = false;   // leaves files behind
  bool outside = false;  // talks to an endpoint or a database that the arguments name
  bool service = false;  // goes on until it is stopped
};

// What the person who started the server lets an agent do.
struct Rights {
  bool write = false;   // commands that leave files
  bool remote = false;  // addresses beyond this machine
};

struct Tool {
  std::string name{};
  CommandHelp help{};
  Effects effects{};
  // Given before an agent's own: a tool may be one form of a command.
  std::vector<std::string> fixed{};

  // As tools/list has it: name, title, description, inputSchema, annotations.
  Json to_json(const Rights& rights) const;
  // The command line of a call, from the command's name on. Errors name the argument.
  Result<std::vector<std::string>> command_line(const Json& arguments) const;
};

// What each command does; a command that is not known here writes and talks.
Effects effects_of(std::string_view command);
// The argument's name of a flag.
std::string argument_of(const FlagHelp& flag);

}  // namespace assay::mcp
