#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/clock.h"
#include "base/exit_code.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/scratch_folder.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "mcp/server.h"

namespace assay::cli {
namespace {

struct McpOptions {
  bool allow_write = false;
  bool allow_remote = false;
  std::string folder = ".";
  bool json = false;
};

Result<std::filesystem::path> own_program() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return Error{Code::io, "/proc/self/exe: " + error.message()};
  return program;
}

Result<std::vector<mcp::Tool>> all_tools() {
  std::vector<mcp::Tool> tools;
  // What leaves a site, and who approves what, is for a person to decide; the last three start
  // programs that their arguments name.
  constexpr std::string_view kNoTools[] = {"mcp",      "site",        "hub",
                                           "pipeline", "conformance", "launch"};
  for (const Command& command : commands()) {
    if (std::ranges::find(kNoTools, command.name) != std::end(kNoTools)) continue;
    ASSIGN_OR_RETURN(CommandHelp help, help_of(command));
    tools.push_back({.name = std::string(command.name),
                     .help = std::move(help),
                     .effects = mcp::effects_of(command.name)});
    if (command.name != "compare") continue;
    // Another form of the command, with flags of its own.
    ASSIGN_OR_RETURN(CommandHelp in_turns, help_of(command, {"--interleave"}));
    tools.push_back({.name = "compare_in_turns",
                     .help = std::move(in_turns),
                     .effects = {.writes = true, .outside = true},
                     .fixed = {"--interleave"}});
  }
  return tools;
}

}  // namespace

Result<int> cmd_mcp(Args args) {
  McpOptions options;
  Flags flags("mcp",
              "these commands as tools of an agent: a Model Context Protocol server on "
              "standard input and output");
  flags.add("--allow-write", &options.allow_write,
            "commands that leave files, below --folder and nowhere else");
  flags.add("--allow-remote", &options.allow_remote,
            "endpoints on other machines; without it only this machine's addresses");
  flags.add("--folder=FOLDER", &options.folder, "where the commands run, and write");
  flags.add("--json", &options.json, "print the tools as JSON and end");
  flags.example("assay mcp");
  flags.example("assay mcp --allow-write --folder measurements");
  PARSE_OR_RETURN(flags, args);
  if (!mcp::can_fence_files()) {
    return Error{Code::unsupported,
                 "this kernel has no Landlock, so a command could not be kept from writing files"};
  }
  if (::chdir(options.folder.c_str()) != 0) {
    return errno_error(format("--folder: cannot enter '{}'", options.folder));
  }
  mcp::ServerOptions server;
  ASSIGN_OR_RETURN(server.program, own_program());
  ASSIGN_OR_RETURN(server.tools, all_tools());
  server.rights = {.write = options.allow_write, .remote = options.allow_remote};
  ASSIGN_OR_RETURN(const ScratchFolder scratch, ScratchFolder::make("mcp"));
  server.fence = {.remote = options.allow_remote,
                  .write = options.allow_write,
                  .folder = std::filesystem::current_path(),
                  .scratch = scratch.path()};
  if (options.json) {
    print(mcp::Session(server.tools, server.rights)
              .receive(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})")
              .replies.front() +
          "\n");
    return exit_code(ExitCode::done);
  }
  OsClock clock;
  TRY(mcp::serve(server, clock));
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
