#include "manual/man_page.h"

#include "base/format.h"

namespace assay::manual {
namespace {

// Text of a page: no line of it is a request, and no character of it an escape.
std::string roff(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::string head(std::string_view name, std::string_view version) {
  return format(".TH {} 1 \"\" \"assay {}\" \"User Commands\"\n", roff(upper(name)), roff(version));
}

std::string heading_of(const FlagHelp& flag) {
  std::string out;
  for (const std::string& name : flag.names) {
    out += format("{}\\fB{}\\fR", out.empty() ? "" : ", ", roff(name));
  }
  if (flag.positional()) return out + (flag.kind == "texts" ? "..." : "");
  if (flag.kind == "bool") return out;
  return out + format(" \\fI{}\\fR", roff(flag.value.empty() ? "VALUE" : flag.value));
}

std::string paragraph_of(const FlagHelp& flag) {
  std::string text = flag.help;
  for (std::size_t i = 0; i < flag.choices.size(); ++i) {
    text += format("{}{}", i == 0 ? ": " : ", ", flag.choices[i]);
  }
  if (!flag.default_text.empty()) text += format(" (default {})", flag.default_text);
  if (flag.required && !flag.positional()) text += " (required)";
  return format(".TP\n{}\n{}\n", heading_of(flag), roff(text));
}

std::string options_of(const CommandHelp& command) {
  std::string out;
  std::vector<std::string> groups;
  const auto title = [](const FlagHelp& flag) -> std::string {
    if (!flag.group.empty()) return flag.group;
    return flag.positional() ? "Arguments" : "Flags";
  };
  for (const FlagHelp& flag : command.flags) {
    bool known = flag.hidden;
    for (const std::string& group : groups) known = known || group == title(flag);
    if (!known) groups.push_back(title(flag));
  }
  for (const std::string& group : groups) {
    out += format(".SS {}\n", roff(group));
    for (const FlagHelp& flag : command.flags) {
      if (!flag.hidden && title(flag) == group) out += paragraph_of(flag);
    }
  }
  return out;
}

constexpr std::string_view kExitStatus =
    ".SH EXIT STATUS\n"
    ".TP\n0\ndone\n.TP\n1\nfindings\n.TP\n2\nbad input, or no such file\n"
    ".TP\n3\nthe endpoint can't be reached, or a file can't be read or written\n"
    ".TP\n4\nclient\\-limited: the client was the bottleneck\n"
    ".TP\n5\nworse than the baseline, or a requirement is not met\n"
    ".TP\n6\nnot comparable\n.TP\n7\nmore than 10 % of the queries failed, or none succeeded\n"
    ".TP\n8\nout of memory, or of space on a disk\n.TP\n130\ninterrupted\n";

}  // namespace

std::string man_page(const CommandHelp& command, std::string_view version) {
  const std::string name = format("assay-{}", command.command);
  std::string out = head(name, version);
  out += format(".SH NAME\n{} \\- {}\n", roff(name), roff(command.summary));
  out += format(".SH SYNOPSIS\n\\fBassay {}\\fR", roff(command.command));
  for (const FlagHelp& flag : command.flags) {
    if (!flag.positional()) continue;
    const std::string heading = heading_of(flag);
    out += flag.required ? " " + heading : format(" [{}]", heading);
  }
  out += " [flags]\n.SH OPTIONS\n" + options_of(command);
  if (!command.examples.empty()) {
    out += ".SH EXAMPLES\n.nf\n";
    for (const std::string& example : command.examples) out += roff(example) + "\n";
    out += ".fi\n";
  }
  return out + std::string(kExitStatus) + ".SH SEE ALSO\n\\fBassay\\fR(1)\n";
}

std::string man_page(const std::vector<CommandHelp>& commands, std::string_view version) {
  std::string out = head("assay", version);
  out +=
      ".SH NAME\nassay \\- load generator and measuring instrument for GenAI endpoints\n"
      ".SH SYNOPSIS\n\\fBassay\\fR \\fICOMMAND\\fR [flags]\n.SH COMMANDS\n";
  for (const CommandHelp& command : commands) {
    out += format(".TP\n\\fBassay\\-{}\\fR(1)\n{}\n", roff(command.command), roff(command.summary));
  }
  return out + std::string(kExitStatus);
}

}  // namespace assay::manual
