// Ollama's own /api/chat and /api/generate: sampling stands in `options`, pictures are base64
// beside the text, and a call's arguments are an object. A stream is Ollama's default, so both
// wishes are sent. There is no way to ignore the end of a text: num_predict limits from above only.
#include "protocol/kind/chat_parts.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"

namespace assay::protocol {
namespace {

// Its roles are system, user, assistant and tool: a model's template leaves out any other.
std::string_view ollama_role(const Json& message) {
  const std::string_view role = message["role"].as_string();
  return role == "developer" ? "system" : role;
}

Json ollama_message(const Json& message) {
  Json out =
      Json::object().set("role", ollama_role(message)).set("content", text_of(message["content"]));
  Json images = Json::array();
  for (const Json& part : message["content"].items()) {
    const std::string_view base64 = data_url(picture_of(part)).base64;
    if (!base64.empty()) images.push_back(base64);
  }
  if (images.size() > 0) out.set("images", std::move(images));
  Json calls = Json::array();
  for (const Json& call : message["tool_calls"].items()) {
    calls.push_back(Json::object().set("function", Json::object()
                                                       .set("name", function_of(call)["name"])
                                                       .set("arguments", arguments_of(call))));
  }
  if (calls.size() > 0) out.set("tool_calls", std::move(calls));
  if (message["name"].is_string() && message["role"].as_string() == "tool") {
    out.set("tool_name", message["name"]);
  }
  return out;
}

Json ollama_options(const Generation& generation, const Sample& sample) {
  Json options = Json::object();
  if (const std::int64_t limit = output_tokens_max(generation, sample); limit > 0) {
    options.set("num_predict", limit);
  }
  set_if(options, "temperature", generation.temperature);
  set_if(options, "seed", generation.seed);
  set_if(options, "top_k", generation.top_k);
  set_if(options, "top_p", generation.top_p);
  set_if(options, "repeat_penalty", generation.repetition_penalty);
  set_if(options, "presence_penalty", generation.presence_penalty);
  set_if(options, "frequency_penalty", generation.frequency_penalty);
  if (const Json& stop = sample.body["stop"]; !stop.is_null()) {
    options.set("stop", stop.is_array() ? stop : Json::array().push_back(stop));
  }
  return options;
}

Json finished(Json body, const Generation& generation, const Sample& sample) {
  body.set("stream", generation.stream);
  if (Json options = ollama_options(generation, sample); options.size() > 0) {
    body.set("options", std::move(options));
  }
  set_rest_of_row(body, sample);
  body.erase("stop");
  return body;
}

}  // namespace

Result<void> check_ollama_chat(const Sample& sample) {
  TRY(check_messages(sample));
  const Json messages = chat_messages(sample, 0);
  for (const Json& message : messages.items()) {
    for (const Json& part : message["content"].items()) {
      const std::string_view picture = picture_of(part);
      if (!picture.empty() && data_url(picture).base64.empty()) {
        return invalid(
            "sample: a picture's address: Ollama takes pictures as base64; write a data: URL");
      }
    }
  }
  return {};
}

Result<void> check_ollama_generate(const Sample& sample) {
  if (sample.prompt.empty()) {
    return invalid("sample: ollama_generate needs a text; map a column to 'prompt'");
  }
  if (!sample.tools.is_null()) {
    return invalid("sample: tools: ollama_generate has no tools; use api_type ollama_chat");
  }
  return {};
}

Json ollama_chat_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  Json messages = Json::array();
  const Json chat = chat_messages(sample, filler);
  for (const Json& message : chat.items()) messages.push_back(ollama_message(message));
  body.set("messages", std::move(messages));
  if (!sample.tools.is_null()) body.set("tools", sample.tools);
  return finished(std::move(body), generation, sample);
}

Json ollama_generate_body(const Generation& generation, const Sample& sample, char filler) {
  Json body = Json::object();
  if (!generation.model.empty()) body.set("model", generation.model);
  if (!sample.system.empty()) body.set("system", sample.system);
  body.set("prompt", prompt_of(sample, filler));
  return finished(std::move(body), generation, sample);
}

}  // namespace assay::protocol
