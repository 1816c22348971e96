#include "manual/completion.h"

#include "base/format.h"

namespace assay::manual {
namespace {

std::string joined_words(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += format("{}{}", out.empty() ? "" : " ", word);
  return out;
}

// Inside single quotes of a shell.
std::string single_quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else if (c == '\n') {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::string flag_names(const CommandHelp& command) {
  std::string out = "--help";
  for (const FlagHelp& flag : command.flags) {
    if (flag.positional() || flag.hidden) continue;
    out += " " + joined_words(flag.names);
  }
  return out;
}

std::string command_names(const std::vector<CommandHelp>& commands) {
  std::string out;
  for (const CommandHelp& command : commands) {
    out += format("{}{}", out.empty() ? "" : " ", command.command);
  }
  return out;
}

// The choices of the arguments without names, in one list.
std::string positional_choices(const CommandHelp& command) {
  std::string out;
  for (const FlagHelp& flag : command.flags) {
    if (!flag.positional() || flag.choices.empty()) continue;
    out += format("{}{}", out.empty() ? "" : " ", joined_words(flag.choices));
  }
  return out;
}

std::string bash_script(const std::vector<CommandHelp>& commands) {
  std::string choices;
  std::string flags;
  std::string words;
  for (const CommandHelp& command : commands) {
    flags += format("    {}) words='{}' ;;\n", command.command, flag_names(command));
    if (const std::string own = positional_choices(command); !own.empty()) {
      words += format("    {}) words='{}' ;;\n", command.command, single_quoted(own));
    }
    for (const FlagHelp& flag : command.flags) {
      if (flag.positional() || flag.choices.empty()) continue;
      for (const std::string& name : flag.names) {
        choices += format("    '{} {}') COMPREPLY=($(compgen -W '{}' -- \"$word\")); return ;;\n",
                          command.command, name, single_quoted(joined_words(flag.choices)));
      }
    }
  }
  return format(
      "# assay: completion for bash. source <(assay completion bash)\n"
      "_assay() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}\n"
      "  local command=${{COMP_WORDS[1]}} words=\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '{} help --help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case \"$command $before\" in\n{}  esac\n"
      "  if [[ $word == -* ]]; then\n"
      "    case $command in\n{}    esac\n"
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n    help) words='{}' ;;\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\") $(compgen -f -- \"$word\"))\n"
      "}}\n"
      "complete -o filenames -F _assay assay\n",
      command_names(commands), choices, flags, command_names(commands), words);
}

// Inside [] of a specification of _arguments.
std::string zsh_words(std::string_view text) {
  std::string out;
  for (const char c : single_quoted(text)) {
    if (c == '[' || c == ']' || c == ':') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_flag(const FlagHelp& flag) {
  const std::string value =
      flag.choices.empty() ? ":_files" : format(":({})", single_quoted(joined_words(flag.choices)));
  const bool repeated = flag.kind == "texts";
  if (flag.positional()) {
    return format("        '{}:{}{}' \\\n", repeated ? "*" : "", zsh_words(flag.names.front()),
                  value);
  }
  std::string out;
  for (const std::string& name : flag.names) {
    out +=
        format("        '{}{}[{}]{}' \\\n", repeated ? "*" : "", name, zsh_words(flag.help),
               flag.kind == "bool"
                   ? ""
                   : format(":{}{}", flag.value.empty() ? "value" : zsh_words(flag.value), value));
  }
  return out;
}

std::string zsh_script(const std::vector<CommandHelp>& commands) {
  std::string out =
      "#compdef assay\n"
      "# assay: completion for zsh, as _assay in a folder of $fpath\n"
      "_assay() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CommandHelp& command : commands) {
    out += format("    '{}:{}'\n", command.command, zsh_words(command.summary));
  }
  out +=
      "  )\n"
      "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n";
  for (const CommandHelp& command : commands) {
    out += format("    {})\n      _arguments \\\n", command.command);
    for (const FlagHelp& flag : command.flags) {
      if (!flag.hidden) out += zsh_flag(flag);
    }
    out += "        '--help[explain the command]'\n      ;;\n";
  }
  return out +
         "  esac\n}\n"
         "if [ \"$funcstack[1]\" = _assay ]; then _assay \"$@\"; else compdef _assay assay; fi\n";
}

std::string fish_script(const std::vector<CommandHelp>& commands) {
  const auto text = [](std::string_view words) {
    std::string out;
    for (const char c : words) {
      if (c == '\'' || c == '\\') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
    return out;
  };
  std::string out = "# assay: completion for fish. assay completion fish | source\n";
  for (const CommandHelp& command : commands) {
    out += format("complete -c assay -f -n __fish_use_subcommand -a {} -d '{}'\n", command.command,
                  text(command.summary));
  }
  for (const CommandHelp& command : commands) {
    const std::string begin =
        format("complete -c assay -n '__fish_seen_subcommand_from {}'", command.command);
    for (const FlagHelp& flag : command.flags) {
      if (flag.hidden) continue;
      if (flag.positional()) {
        if (flag.choices.empty()) continue;
        out += format("{} -a '{}'\n", begin, text(joined_words(flag.choices)));
        continue;
      }
      out += begin;
      for (const std::string& name : flag.names) {
        out += name.starts_with("--") ? format(" -l {}", name.substr(2))
                                      : format(" -s {}", name.substr(1));
      }
      if (!flag.choices.empty()) {
        out += format(" -x -a '{}'", text(joined_words(flag.choices)));
      } else if (flag.kind != "bool") {
        out += " -r";
      }
      out += format(" -d '{}'\n", text(flag.help));
    }
  }
  return out;
}

}  // namespace

std::string completion(Shell shell, const std::vector<CommandHelp>& commands) {
  switch (shell) {
    case Shell::bash:
      return bash_script(commands);
    case Shell::zsh:
      return zsh_script(commands);
    case Shell::fish:
      return fish_script(commands);
  }
  return {};
}

}  // namespace assay::manual
