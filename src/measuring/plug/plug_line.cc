#include "plug/plug_line.h"

#include <limits>
#include <utility>

#include "base/display.h"
#include "base/format.h"
#include "base/json.h"
#include "domain/tool_call.h"

namespace assay::plug {
namespace {

std::string beginning(std::string_view line) {
  constexpr std::size_t kMost = 80;
  return printable(line.substr(0, kMost)) + (line.size() > kMost ? "…" : "");
}

std::int32_t count_of(const Json& value) {
  if (value.is_null()) return -1;
  const std::int64_t count = value.as_int(-1);
  const bool good = count >= 0 && count <= std::numeric_limits<std::int32_t>::max();
  return good ? static_cast<std::int32_t>(count) : kNoCount;
}

// A call, or a piece of one, as OpenAI streams it: {"index", "id", "function": {"name",
// "arguments"}}, or flat.
Result<std::string> call_text(const Json& call) {
  if (!call.is_object()) return invalid("\"tool_call\" must be an object {name, arguments}");
  const Json& function = call["function"].is_object() ? call["function"] : call;
  const Json& arguments = function["arguments"];
  const std::string words = arguments.is_string() ? std::string(arguments.as_string())
                            : arguments.is_null() ? std::string()
                                                  : arguments.dump();
  std::string out(1, kToolCallBegins);
  out += std::to_string(call["index"].as_uint()) + kToolCallField;
  for (const std::string_view part :
       {call["id"].as_string(), function["name"].as_string(), std::string_view(words)}) {
    if (part.find_first_of("\x1e\x1f") != std::string_view::npos) {
      return invalid("\"tool_call\" holds a control character");
    }
    out += part;
    if (part.data() != words.data()) out += kToolCallField;
  }
  return out;
}

Result<void> read_fragment(const Json& json, PlugLine& out) {
  for (const auto& [key, category] :
       {std::pair{"text", Category::text}, std::pair{"reasoning", Category::reasoning},
        std::pair{"tool_call", Category::tool_call}}) {
    const Json* const value = json.find(key);
    if (value == nullptr || value->is_null()) continue;
    if (out.has_fragment) return invalid("one line holds one fragment");
    out.has_fragment = true;
    out.category = category;
    if (category == Category::tool_call) {
      ASSIGN_OR_RETURN(out.text, call_text(*value));
    } else if (!value->is_string()) {
      return invalid(format("\"{}\" must be a text, found {}", key, value->type_name()));
    } else {
      out.text = value->as_string();
    }
  }
  return {};
}

Result<PlugLine> read_object(const Json& json) {
  PlugLine out;
  if (json["ready"].as_bool()) {
    out.kind = PlugLine::Kind::ready;
    out.name = json["name"].as_string();
    return out;
  }
  const Json& query = json["query"];
  if (!query.is_integer() || query.as_int(-1) < 0) {
    return invalid("no \"query\" with the number of the query, and no \"ready\": true");
  }
  out.query = query.as_uint();
  TRY(read_fragment(json, out));
  if (const Json* const done = json.find("done")) {
    if (!done->is_bool()) return invalid("\"done\" must be true");
    out.done = done->as_bool();
  }
  if (const Json* const error = json.find("error"); error != nullptr && !error->is_null()) {
    out.failed = true;
    out.error = error->is_string() ? std::string(error->as_string()) : error->dump();
  }
  out.finish = finish_reason_from(json["finish"].as_string());
  const Json& usage = json["usage"];
  out.usage = {.prompt_tokens = count_of(usage["prompt_tokens"]),
               .completion_tokens = count_of(usage["completion_tokens"]),
               .reasoning_tokens = count_of(usage["reasoning_tokens"]),
               .cached_tokens = count_of(usage["cached_tokens"])};
  if (!out.has_fragment && !out.done && !out.failed && out.usage == Usage{}) {
    return invalid(
        "neither a fragment (text, reasoning, tool_call) nor \"done\", \"error\", \"usage\"");
  }
  return out;
}

}  // namespace

Result<PlugLine> read_plug_line(std::string_view line) {
  const auto json = Json::parse(line);
  if (!json || !json->is_object()) {
    return invalid(format("no JSON object: {}", beginning(line)));
  }
  auto out = read_object(*json);
  if (!out) return invalid(format("{}: {}", out.error().message, beginning(line)));
  return out;
}

}  // namespace assay::plug
