#include "mcp/tool.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace assay::mcp {
namespace {

struct Known {
  std::string_view command{};
  Effects effects{};
};

constexpr Known kKnown[] = {
    {"demo", {.writes = true}},
    {"probe", {.outside = true}},
    {"doctor", {}},
    {"init", {.writes = true}},
    {"run", {.writes = true, .outside = true}},
    {"curve", {.writes = true, .outside = true}},
    {"client", {.writes = true, .outside = true}},
    {"report", {}},
    {"compare", {}},
    {"noise", {}},
    {"decide", {}},
    {"convert", {.writes = true}},
    {"calibrate", {.writes = true}},
    {"verify", {}},
    {"merge", {.writes = true}},
    {"pack", {.writes = true}},
    {"check", {}},
    {"regions", {}},
    {"explain", {}},
    {"bundle", {.writes = true}},
    {"key", {.writes = true}},
    {"import", {.writes = true, .outside = true}},
    {"serve", {.writes = true, .outside = true, .service = true}},
    {"export", {.writes = true, .outside = true}},
    {"review", {.writes = true, .outside = true}},
    {"endpoint", {.service = true}},
    {"proxy", {.writes = true, .outside = true, .service = true}},
    {"simulate", {}},
    {"dataset", {}},
    {"workloads", {}},
    {"loadgen", {}},
    {"tasks", {}},
    {"score", {}},
    {"tokens", {}},
    {"twin", {}},
    {"version", {}},
    {"completion", {}},
    {"man", {}},
};

bool is_left_out(const FlagHelp& flag) {
  return flag.names.front() == "--json" || flag.names.front() == "--allow-code";
}

// The type of an argument, or of each item of a list.
Json type_of(const FlagHelp& flag) {
  Json out = Json::object();
  if (flag.kind == "bool") return out.set("type", "boolean");
  if (flag.kind == "integer") return out.set("type", "integer");
  if (flag.kind == "count") return out.set("type", "integer").set("minimum", 0);
  if (flag.kind == "number") return out.set("type", "number");
  out.set("type", "string");
  if (!flag.choices.empty()) {
    Json& words = out.set("enum", Json::array());
    for (const std::string& word : flag.choices) words.find("enum")->push_back(word);
  }
  return out;
}

std::string words_of(const FlagHelp& flag) {
  std::string out = flag.help;
  if (flag.kind == "duration") out += "; a duration: \"500ms\", \"30s\", \"10m\"";
  if (!flag.default_text.empty()) out += format(" (default {})", flag.default_text);
  return out;
}

Json schema_of(const CommandHelp& help) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const FlagHelp& flag : help.flags) {
    if (is_left_out(flag)) continue;
    Json property = Json::object();
    if (flag.kind == "texts") {
      property.set("type", "array").set("items", type_of(flag));
    } else {
      property = type_of(flag);
    }
    property.set("description", words_of(flag));
    const std::string name = argument_of(flag);
    if (flag.required) required.push_back(name);
    properties.set(name, std::move(property));
  }
  Json out = Json::object();
  out.set("type", "object").set("properties", std::move(properties));
  if (required.size() > 0) out.set("required", std::move(required));
  return out.set("additionalProperties", false);
}

// The text that the command line has for a JSON value of this kind.
Result<std::string> text_of(const FlagHelp& flag, const Json& value) {
  const auto wrong = [&](std::string_view wanted) -> Result<std::string> {
    return invalid(format("{}: is {}, not {}", argument_of(flag), value.type_name(), wanted));
  };
  if (flag.kind == "integer" || flag.kind == "count") {
    if (!value.is_integer()) return wrong("a whole number");
    return value.dump();
  }
  if (flag.kind == "number") {
    if (!value.is_number()) return wrong("a number");
    return value.dump();
  }
  // "concurrency": 8 means what it says. The unit of a duration that is a number would be a guess.
  if (value.is_number() && flag.kind != "duration") return value.dump();
  if (!value.is_string()) return wrong("a text");
  std::string text(value.as_string());
  if (text.find('\0') != std::string::npos) {
    return invalid(format("{}: holds a zero byte", argument_of(flag)));
  }
  return text;
}

struct Line {
  std::vector<std::string> flags{};
  std::vector<std::string> positional{};
};

Result<void> add(const FlagHelp& flag, const Json& value, Line& line) {
  if (flag.kind == "bool") {
    if (!value.is_bool()) {
      return invalid(format("{}: is {}, not true or false", argument_of(flag), value.type_name()));
    }
    if (value.as_bool()) line.flags.push_back(flag.names.front());
    return {};
  }
  const auto add_one = [&](const Json& one) -> Result<void> {
    ASSIGN_OR_RETURN(std::string text, text_of(flag, one));
    if (flag.positional()) {
      line.positional.push_back(std::move(text));
    } else {
      line.flags.push_back(format("{}={}", flag.names.front(), text));
    }
    return {};
  };
  if (flag.kind != "texts") return add_one(value);
  // One, where a list of one was meant.
  if (value.is_string() || value.is_number()) return add_one(value);
  if (!value.is_array()) {
    return invalid(format("{}: is {}, not a list", argument_of(flag), value.type_name()));
  }
  for (const Json& one : value.items()) TRY(add_one(one));
  return {};
}

}  // namespace

std::string argument_of(const FlagHelp& flag) {
  std::string out(flag.names.front());
  while (out.starts_with('-')) out.erase(0, 1);
  std::ranges::replace(out, '-', '_');
  return lower(out);
}

Effects effects_of(std::string_view command) {
  for (const Known& known : kKnown) {
    if (known.command == command) return known.effects;
  }
  return {.writes = true, .outside = true};
}

Json Tool::to_json(const Rights& rights) const {
  std::string description = help.summary;
  if (!help.examples.empty()) description += "\nOn a command line: " + help.examples.front();
  if (effects.service) {
    description +=
        "\nIt goes on after this call has returned, until stop_service or the end of the session.";
  }
  Json hints = Json::object();
  hints.set("readOnlyHint", !effects.writes && !effects.service)
      .set("destructiveHint", false)
      .set("idempotentHint", !effects.writes && !effects.service)
      .set("openWorldHint", effects.outside && rights.remote);
  Json out = Json::object();
  return out.set("name", name)
      .set("title", format("assay {}", help.command))
      .set("description", std::move(description))
      .set("inputSchema", schema_of(help))
      .set("annotations", std::move(hints));
}

Result<std::vector<std::string>> Tool::command_line(const Json& arguments) const {
  if (!arguments.is_object() && !arguments.is_null()) {
    return invalid(format("arguments: is {}, not an object", arguments.type_name()));
  }
  for (const Json::Member& member : arguments.members()) {
    const std::string& name_given = member.first;
    const bool known = std::ranges::any_of(help.flags, [&](const FlagHelp& flag) {
      return !is_left_out(flag) && argument_of(flag) == name_given;
    });
    if (known) continue;
    std::vector<std::string> names;
    for (const FlagHelp& flag : help.flags) {
      if (!is_left_out(flag)) names.push_back(argument_of(flag));
    }
    const std::vector<std::string_view> views(names.begin(), names.end());
    const std::string_view near = nearest(name_given, views);
    return invalid(format("{}: {} has no such argument{}", name_given, name,
                          near.empty() ? "" : format("; did you mean {}?", near)));
  }
  Line line;
  // In the order of the flags, so that arguments without names keep theirs.
  for (const FlagHelp& flag : help.flags) {
    const Json* const value = arguments.find(argument_of(flag));
    if (value == nullptr || value->is_null()) {
      if (flag.required)
        return invalid(format("{}: is required: {}", argument_of(flag), flag.help));
      continue;
    }
    TRY(add(flag, *value, line));
  }
  std::vector<std::string> out{help.command.substr(0, help.command.find(' '))};
  out.insert(out.end(), fixed.begin(), fixed.end());
  out.insert(out.end(), line.flags.begin(), line.flags.end());
  if (help.find("--json") != nullptr) out.emplace_back("--json");
  if (!line.positional.empty()) out.emplace_back("--");
  out.insert(out.end(), line.positional.begin(), line.positional.end());
  return out;
}

}  // namespace assay::mcp
