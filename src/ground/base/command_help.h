// CommandHelp: what one command of `assay` takes, read from `assay NAME --help-json`
// (base/flags_description.cc writes it). Tools of agents, shell completion and manual pages are
// made from it, so a new flag reaches all of them by itself. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace assay {

struct FlagHelp {
  std::vector<std::string> names{};  // "--endpoint", "-e"; of an argument its name: "URL"
  std::string kind{};                // bool, text, integer, count, number, duration, texts
  std::string value{};               // what stands for the value in the help: URL, N; or empty
  std::string help{};
  std::string default_text{};
  std::string group{};
  std::vector<std::string> choices{};
  bool required = false;
  bool hidden = false;
  bool positional() const { return !names.front().starts_with('-'); }
};

struct CommandHelp {
  std::string command{};
  std::string summary{};
  std::vector<FlagHelp> flags{};
  std::vector<std::string> examples{};

  static Result<CommandHelp> from_json(const Json& json);
  // nullptr if no flag has this name.
  const FlagHelp* find(std::string_view name) const;
};

}  // namespace assay
