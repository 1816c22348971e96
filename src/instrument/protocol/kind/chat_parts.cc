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

}  // namespace assay::protocol
