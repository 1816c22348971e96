#include "base/command_help.h"

#include <algorithm>

namespace assay {
namespace {

std::vector<std::string> texts_of(const Json& json) {
  std::vector<std::string> out;
  for (const Json& item : json.items()) out.emplace_back(item.as_string());
  return out;
}

}  // namespace

Result<CommandHelp> CommandHelp::from_json(const Json& json) {
  CommandHelp out;
  out.command = json["command"].as_string();
  out.summary = json["summary"].as_string();
  if (out.command.empty()) return invalid("command: a command's description has a name");
  for (const Json& flag : json["flags"].items()) {
    FlagHelp one;
    one.names = texts_of(flag["names"]);
    if (one.names.empty() || one.names.front().empty()) {
      return invalid("flags: each flag has a name");
    }
    one.kind = flag["kind"].as_string();
    one.value = flag["value"].as_string();
    one.help = flag["help"].as_string();
    one.default_text = flag["default"].as_string();
    one.group = flag["group"].as_string();
    one.choices = texts_of(flag["choices"]);
    one.required = flag["required"].as_bool();
    one.hidden = flag["hidden"].as_bool();
    out.flags.push_back(std::move(one));
  }
  out.examples = texts_of(json["examples"]);
  return out;
}

const FlagHelp* CommandHelp::find(std::string_view name) const {
  for (const FlagHelp& flag : flags) {
    if (std::ranges::find(flag.names, name) != flag.names.end()) return &flag;
  }
  return nullptr;
}

}  // namespace assay
