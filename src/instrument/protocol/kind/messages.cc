// Anthropic's Messages: the system prompt stands apart, a limit is required, calls and their
// results are blocks, and a tool's schema is `input_schema`. Sampling has temperature, top_p and
// top_k; there is no seed, no penalty and no way to ignore the end of a text.
#include "protocol/kind/chat_parts.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

// The limit where neither row nor setting has one: the API has no default.
constexpr std::int64_t kTokensMax = 16384;

Json message_block(const Json& part) {
  const std::string_view picture = picture_of(part);
  if (picture.empty()) return part;
  const DataUrl data = data_url(picture);
  Json source = Json::object();
  if (data.base64.empty()) {
    source.set("type", "url").set("url", picture);
  } else {
    source.set("type", "base64").set("media_type", data.media_type).set("data", data.base64);
  }
  return Json::object().set("type", "image").set("source", std::move(source));
}

Json message_content(const Json& message) {
  const Json& content = message["content"];
  const Json& calls = message["tool_calls"];
  if (content.is_string() && calls.size() == 0) return content;
  Json blocks = Json::array();
  const Json parts = parts_of(content);
  for (const Json& part : parts.items()) blocks.push_back(message_block(part));
  for (const Json& call : calls.items()) {
    blocks.push_back(Json::object()
                         .set("type", "tool_use")
                         .set("id", call["id"])
                         .set("name", function_of(call)["name"])
                         .set("input", arguments_of(call)));
  }
  return blocks;
}

Json tool_result(const Json& message) {
  return Json::object()
      .set("type", "tool_result")
      .set("tool_use_id", message["tool_call_id"])
      .set("content", text_of(message["content"]));
}

// Messages without those of the system, whose texts are joined into `system`. Results of calls that
// follow each other are one message.
Json own_messages(const Json& chat, std::string& system) {
  Json out = Json::array();
  bool results = false;
  for (const Json& message : chat.items()) {
    const std::string_view role = message["role"].as_string();
    const bool result = role == "tool";
    if (role == "system" || role == "developer") {
      if (!system.empty()) system += "\n\n";
      system += text_of(message["content"]);
    } else if (result && results) {
      out.make_array().back().find("content")->push_back(tool_result(message));
    } else if (result) {
      out.push_back(Json::object()
                        .set("role", "user")
                        .set("content", Json::array().push_back(tool_result(message))));
    } else {
      out.push_back(Json::object().set("role", role).set("content", message_content(message)));
    }
    results = result;
  }
  return out;
}

Json message_tools(const Json& tools) {
  Json out = Json::array();
  for (const Json& tool : tools.items()) {
    const Json& function = function_of(tool);
    if (function.find("parameters") == nullptr) {
      out.push_back(tool);  // in this API's form already
      continue;
    }
    Json one = Json::object().set("name", function["name"]);
    if (function["description"].is_string()) one.set("description", function["description"]);
    out.push_back(one.set("input_schema", function["parameters"]));
  }
  return out;
}

Json message_tool_choice(const Json& choice) {
  if (choice.is_string()) {
    const std::string_view word = choice.as_string();
    return Json::object().set("type", word == "required" ? std::string_view("any") : word);
  }
  const Json& name = function_of(choice)["name"];
  if (choice["type"].as_string() != "function" || !name.is_string()) return choice;
  return Json::object().set("type", "tool").set("name", name);
}

}  // namespace

Json messages_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  const std::int64_t limit = output_tokens_max(generation, sample);
  body.set("max_tokens", limit > 0 ? limit : kTokensMax);
  std::string system;
  Json messages = own_messages(chat_messages(sample, filler), system);
  if (!system.empty()) body.set("system", system);
  body.set("messages", std::move(messages));
  set_if(body, "temperature", generation.temperature);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  body.set("stream", generation.stream);
  if (!sample.tools.is_null()) body.set("tools", message_tools(sample.tools));
  if (!sample.tool_choice.is_null()) {
    body.set("tool_choice", message_tool_choice(sample.tool_choice));
  }
  if (const Json& stop = sample.body["stop"]; !stop.is_null()) {
    body.set("stop_sequences", stop.is_array() ? stop : Json::array().push_back(stop));
  }
  set_rest_of_row(body, sample);
  body.erase("stop");
  return body;
}

}  // namespace assay::protocol
