// OpenAI's Responses: a chat's messages become items of `input`, tools are flat, and the limit
// counts reasoning too. Nothing is stored at the server.
#include "protocol/kind/chat_parts.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

Json input_part(const Json& part, bool by_assistant) {
  if (part["type"].as_string() == "text") {
    return Json::object()
        .set("type", by_assistant ? "output_text" : "input_text")
        .set("text", part["text"]);
  }
  if (const std::string_view picture = picture_of(part); !picture.empty()) {
    Json out = Json::object().set("type", "input_image").set("image_url", picture);
    if (const Json& detail = part["image_url"]["detail"]; detail.is_string()) {
      out.set("detail", detail);
    }
    return out;
  }
  return part;  // input_audio, input_file: of the same form, or the server's to refuse
}

Json message_item(const Json& message) {
  const Json& content = message["content"];
  Json item = Json::object().set("role", message["role"]);
  if (!content.is_array()) return item.set("content", content);
  Json parts = Json::array();
  const bool by_assistant = message["role"].as_string() == "assistant";
  for (const Json& part : content.items()) parts.push_back(input_part(part, by_assistant));
  return item.set("content", std::move(parts));
}

Json input_items(const Json& messages) {
  Json items = Json::array();
  for (const Json& message : messages.items()) {
    if (message["role"].as_string() == "tool") {
      items.push_back(Json::object()
                          .set("type", "function_call_output")
                          .set("call_id", message["tool_call_id"])
                          .set("output", text_of(message["content"])));
      continue;
    }
    if (!message["content"].is_null()) items.push_back(message_item(message));
    for (const Json& call : message["tool_calls"].items()) {
      const Json& function = function_of(call);
      items.push_back(Json::object()
                          .set("type", "function_call")
                          .set("call_id", call["id"])
                          .set("name", function["name"])
                          .set("arguments", function["arguments"]));
    }
  }
  return items;
}

// From chat's {"type": "function", "function": {…}} to {"type": "function", …}.
Json flat_tool(const Json& tool) {
  if (tool.find("function") == nullptr) return tool;
  Json out = Json::object().set("type", "function");
  for (const auto& [key, value] : tool["function"].members()) out.set(key, value);
  return out;
}

Json flat_tools(const Json& tools) {
  Json out = Json::array();
  for (const Json& tool : tools.items()) out.push_back(flat_tool(tool));
  return out;
}

}  // namespace

Json responses_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  if (sample.messages.is_null() && sample.content_parts.is_null()) {
    if (!sample.system.empty()) body.set("instructions", sample.system);
    body.set("input", prompt_of(sample, filler));
  } else {
    body.set("input", input_items(chat_messages(sample, filler)));
  }
  if (const std::int64_t limit = output_tokens_max(generation, sample); limit > 0) {
    body.set("max_output_tokens", limit);
  }
  set_if(body, "temperature", generation.temperature);
  set_if(body, "top_p", generation.top_p);
  set_if(body, "top_k", generation.top_k);
  set_if(body, "seed", generation.seed);
  set_if(body, "repetition_penalty", generation.repetition_penalty);
  set_if(body, "presence_penalty", generation.presence_penalty);
  set_if(body, "frequency_penalty", generation.frequency_penalty);
  body.set("stream", generation.stream);
  body.set("store", false);
  if (generation.chat_template_kwargs.size() > 0) {
    body.set("chat_template_kwargs", generation.chat_template_kwargs);
  }
  if (!sample.tools.is_null()) body.set("tools", flat_tools(sample.tools));
  if (!sample.tool_choice.is_null()) body.set("tool_choice", flat_tool(sample.tool_choice));
  set_if(body, "ignore_eos", generation.ignore_eos);
  set_rest_of_row(body, sample);
  return body;
}

}  // namespace assay::protocol
