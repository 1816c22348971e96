#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/console.h"
#include "manual/completion.h"
#include "manual/man_page.h"

namespace assay::cli {
namespace {

Result<std::vector<CommandHelp>> all_help() {
  std::vector<CommandHelp> out;
  for (const Command& command : commands()) {
    ASSIGN_OR_RETURN(CommandHelp help, help_of(command));
    out.push_back(std::move(help));
  }
  return out;
}

}  // namespace

Result<int> cmd_completion(Args args) {
  std::string shell;
  Flags flags("completion", "completion of commands and flags in bash, zsh or fish: a script");
  flags.add("SHELL", &shell, "which").required().choices({"bash", "zsh", "fish"});
  flags.example("source <(assay completion bash)");
  flags.example("assay completion fish > ~/.config/fish/completions/assay.fish");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  ASSIGN_OR_RETURN(const auto help, all_help());
  const auto which = shell == "bash"  ? manual::Shell::bash
                     : shell == "zsh" ? manual::Shell::zsh
                                      : manual::Shell::fish;
  print(manual::completion(which, help));
  return exit_code(ExitCode::done);
}

Result<int> cmd_man(Args args) {
  std::string name;
  std::string folder;
  Flags flags("man", "manual pages of this program");
  flags.add("COMMAND", &name, "a command's page; without it the program's");
  flags.add("--folder", &folder, "write all pages there: assay.1, assay-run.1, …").value("FOLDER");
  flags.example("assay man run | man -l -");
  flags.example("assay man --folder /usr/local/share/man/man1");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (!name.empty() && !folder.empty())
    return invalid("--folder: has all pages; leave COMMAND out");
  ASSIGN_OR_RETURN(const auto help, all_help());
  if (!folder.empty()) {
    const std::filesystem::path place = folder;
    TRY(make_folders(place));
    TRY(write_file_atomic(place / "assay.1", manual::man_page(help, version())));
    for (const CommandHelp& one : help) {
      TRY(write_file_atomic(place / format("assay-{}.1", one.command),
                            manual::man_page(one, version())));
    }
    say(format("wrote {} pages to {}", help.size() + 1, folder));
    return exit_code(ExitCode::done);
  }
  if (name.empty()) {
    print(manual::man_page(help, version()));
    return exit_code(ExitCode::done);
  }
  for (const CommandHelp& one : help) {
    if (one.command != name) continue;
    print(manual::man_page(one, version()));
    return exit_code(ExitCode::done);
  }
  return invalid(format("COMMAND: there is no command \"{}\"\n  assay --help lists them", name));
}

}  // namespace assay::cli
