#include "endpoint/tool_call.h"

#include "base/format.h"
#include "base/json.h"

namespace assay::endpoint {
namespace {

constexpr int kDepthMax = 16;

// The smallest value that fits the schema. Schema features beyond this code are ignored; a real
// server's model might miss them too.
Json sample_value(const Json& schema, int depth) {
  if (schema["enum"].size() > 0) return schema["enum"][0];
  if (schema.find("default") != nullptr) return schema["default"];
  const Json& kind = schema["type"];
  const std::string_view type = kind.is_array() ? kind[0].as_string() : kind.as_string();
  if (type == "string") return "lorem ipsum";
  if (type == "integer") return schema["minimum"].as_int(1);
  if (type == "number") return schema["minimum"].as_double(1.5);
  if (type == "boolean") return true;
  if (type == "null") return nullptr;
  if (depth >= kDepthMax) return Json::object();
  if (type == "array") {
    Json list = Json::array();
    const std::int64_t least = schema["minItems"].as_int(1);
    for (std::int64_t i = 0; i < least && i < kDepthMax; ++i) {
      list.push_back(sample_value(schema["items"], depth + 1));
    }
    return list;
  }
  Json object = Json::object();
  const Json& properties = schema["properties"];
  if (schema.find("required") == nullptr) {
    for (const auto& [name, inner] : properties.members()) {
      object.set(name, sample_value(inner, depth + 1));
    }
    return object;
  }
  for (const Json& name : schema["required"].items()) {
    object.set(name.as_string(), sample_value(properties[name.as_string()], depth + 1));
  }
  return object;
}

const Json* find_function(const Json& tools, std::string_view name) {
  for (const Json& tool : tools.items()) {
    // Chat nests the function; Responses and Messages do not.
    const Json* const nested = tool.find("function");
    const Json* const function = nested != nullptr ? nested : &tool;
    if (!(*function)["name"].is_string()) continue;
    if (name.empty() || (*function)["name"].as_string() == name) return function;
  }
  return nullptr;
}

}  // namespace

ToolWish choose_tool(std::string_view tools_text, std::string_view choice_text, bool last_is_tool) {
  const auto tools = Json::parse(tools_text);
  if (!tools || !tools->is_array()) return {.error = "must be an array"};
  if (tools->size() == 0) return {};
  const auto choice = choice_text.empty() ? Result<Json>(Json("auto")) : Json::parse(choice_text);
  if (!choice) return {.error = "tool_choice is not valid JSON"};
  // A word, or Anthropic's {"type": word}.
  const std::string_view type = (*choice)["type"].as_string();
  const bool plain_type = type == "auto" || type == "any" || type == "none";
  const std::string_view word = plain_type ? type : choice->as_string();
  if (word == "none" || (word == "auto" && last_is_tool)) return {};
  if (choice->is_string() && word != "auto" && word != "required") {
    return {.error = format("tool_choice '{}' is none of none, auto, required", word)};
  }
  const Json& chosen = choice->find("function") != nullptr ? (*choice)["function"] : *choice;
  const std::string_view named = plain_type ? std::string_view{} : chosen["name"].as_string();
  const Json* const function = find_function(*tools, named);
  if (function == nullptr) {
    return {.error = named.empty() ? "no function with a name" : format("no tool '{}'", named)};
  }
  const Json* const own = function->find("input_schema");  // Anthropic's name for parameters
  const Json& schema = own != nullptr ? *own : (*function)["parameters"];
  return {.wanted = true,
          .name = std::string((*function)["name"].as_string()),
          .arguments = sample_value(schema, 0).dump()};
}

}  // namespace assay::endpoint
