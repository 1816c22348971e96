#include "protocol/kind/chat_parts.h"

namespace assay::protocol {

Json parts_of(const Json& content) {
  if (content.is_array()) return content;
  Json parts = Json::array();
  if (content.is_string()) {
    parts.push_back(Json::object().set("type", "text").set("text", content));
  }
  return parts;
}

std::string text_of(const Json& content) {
  if (content.is_string()) return std::string(content.as_string());
  std::string text;
  for (const Json& part : content.items()) text += part["text"].as_string();
  return text;
}

std::string_view picture_of(const Json& part) {
  const Json& url = part["image_url"];
  return url.is_string() ? url.as_string() : url["url"].as_string();
}

DataUrl data_url(std::string_view url) {
  constexpr std::string_view kData = "data:";
  constexpr std::string_view kBase64 = ";base64,";
  const std::size_t comma = url.find(kBase64);
  if (!url.starts_with(kData) || comma == std::string_view::npos) return {};
  return {url.substr(kData.size(), comma - kData.size()), url.substr(comma + kBase64.size())};
}

const Json& function_of(const Json& tool) {
  const Json* const function = tool.find("function");
  return function != nullptr && function->is_object() ? *function : tool;
}

Json arguments_of(const Json& call) {
  const Json& arguments = function_of(call)["arguments"];
  if (!arguments.is_string()) return arguments.is_object() ? arguments : Json::object();
  const auto parsed = Json::parse(arguments.as_string());
  return parsed && parsed->is_object() ? *parsed : Json::object();
}

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

}  // namespace

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

}  // namespace assay::protocol
