#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/json.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/commands.h"
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

struct Page {
  std::string command{};  // empty: the program's own
  std::string file{};
  std::string roff{};
};

Result<std::vector<Page>> all_pages() {
  ASSIGN_OR_RETURN(const auto help, all_help());
  std::vector<Page> out{{.file = "assay.1", .roff = manual::man_page(help, version())}};
  for (const CommandHelp& one : help) {
    out.push_back({.command = one.command,
                   .file = format("assay-{}.1", one.command),
                   .roff = manual::man_page(one, version())});
  }
  return out;
}

}  // namespace

Result<int> cmd_completion(Args args) {
  std::string shell;
  Flags flags("completion", "completion of commands and flags in bash, zsh or fish: a script");
  flags.add("SHELL", &shell, "which").required().choices({"bash", "zsh", "fish"});
  bool json = false;
  flags.add("--json", &json, "print {shell, script} as JSON");
  flags.example("source <(assay completion bash)");
  flags.example("assay completion fish > ~/.config/fish/completions/assay.fish");
  PARSE_OR_RETURN(flags, args);
  ASSIGN_OR_RETURN(const auto help, all_help());
  const auto which = shell == "bash"  ? manual::Shell::bash
                     : shell == "zsh" ? manual::Shell::zsh
                                      : manual::Shell::fish;
  const std::string script = manual::completion(which, help);
  print(json ? Json::object().set("shell", shell).set("script", script).dump(2) + "\n" : script);
  return exit_code(ExitCode::done);
}

Result<int> cmd_man(Args args) {
  std::string name;
  std::string folder;
  Flags flags("man", "manual pages of this program");
  flags.add("COMMAND", &name, "a command's page; without it the program's");
  flags.add("--folder=FOLDER", &folder, "write all pages there: assay.1, assay-run.1, …");
  bool json = false;
  flags.add("--json", &json, "print the pages as JSON: their roff by name");
  flags.example("assay man run | man -l -");
  flags.example("assay man --folder /usr/local/share/man/man1");
  PARSE_OR_RETURN(flags, args);
  if (!name.empty() && !folder.empty())
    return invalid("--folder: writes the pages of all commands; leave COMMAND out");
  ASSIGN_OR_RETURN(const std::vector<Page> pages, all_pages());
  if (!folder.empty()) {
    const std::filesystem::path place = folder;
    TRY(make_folders(place));
    for (const Page& page : pages) TRY(write_file_atomic(place / page.file, page.roff));
    say(format("wrote {} pages to {}", pages.size(), folder));
    return exit_code(ExitCode::done);
  }
  if (json && name.empty()) {
    Json all = Json::object();
    for (const Page& page : pages) all.set(page.file, page.roff);
    print(all.dump(2) + "\n");
    return exit_code(ExitCode::done);
  }
  for (const Page& page : pages) {
    if (page.command != name) continue;
    print(json ? Json::object().set(page.file, page.roff).dump(2) + "\n" : page.roff);
    return exit_code(ExitCode::done);
  }
  return invalid(format("COMMAND: there is no command \"{}\"\n  assay --help lists them", name));
}

}  // namespace assay::cli
