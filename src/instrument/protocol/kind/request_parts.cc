#include "protocol/kind/request_parts.h"

#include <algorithm>

#include "base/format.h"
#include "protocol/codec.h"

namespace assay::protocol {
namespace {

std::string salt_text(char filler) { return "[" + std::string(kSaltDigits, filler) + "] "; }

// Whether the message can be salted.
bool has_content(const Json& message) {
  const Json& content = message["content"];
  return message["role"].as_string() == "user" && (content.is_string() || content.is_array());
}

// Puts the salt before the first text of these parts; adds a text if there is none.
void salt_parts(Json& parts, char filler) {
  for (Json& part : parts.make_array()) {
    if (part["text"].is_string()) {
      part.set("text", salt_text(filler) + std::string(part["text"].as_string()));
      return;
    }
  }
  Json::Array& list = parts.make_array();
  list.insert(list.begin(), Json::object().set("type", "text").set("text", salt_text(filler)));
}

// Salts the first user text.
Json salted_messages(Json messages, char filler) {
  for (Json& message : messages.make_array()) {
    if (!has_content(message)) continue;
    Json* const content = message.find("content");
    if (content->is_array()) {
      salt_parts(*content, filler);
    } else {
      *content = Json(salt_text(filler) + std::string(content->as_string()));
    }
    break;
  }
  return messages;
}

// Index for the marker tokens: after the vocabulary's begin of text, unless the sample gives one.
std::size_t salt_position(const Sample& sample) {
  if (sample.salt_position < 0) return std::min<std::size_t>(1, sample.input_tokens.size());
  return std::min(static_cast<std::size_t>(sample.salt_position), sample.input_tokens.size());
}

}  // namespace

void set_from_row(Json& body, const Sample& sample, std::string_view key) {
  const Json& value = sample.body[key];
  if (!value.is_null() && body.find(key) == nullptr) body.set(key, value);
}

void set_rest_of_row(Json& body, const Sample& sample) {
  for (const auto& [key, value] : sample.body.members()) {
    if (key == "name" || value.is_null() || body.find(key) != nullptr) continue;
    body.set(key, value);
  }
}

std::int64_t output_tokens_max(const Generation& generation, const Sample& sample) {
  return sample.output_tokens_max > 0 ? sample.output_tokens_max : generation.max_new_tokens;
}

void set_limit(Json& body, std::string_view own, const Generation& generation,
               const Sample& sample) {
  const std::int64_t limit = output_tokens_max(generation, sample);
  if (limit > 0) body.set(generation.limit_field.empty() ? own : generation.limit_field, limit);
}

void set_usage_wish(Json& body, const Generation& generation) {
  if (!generation.stream || !generation.include_usage) return;
  body.set("stream_options", Json::object().set("include_usage", true));
}

// Prompt with the salt's hole filled with `filler`.
std::string prompt_of(const Sample& sample, char filler) {
  return filler == 0 ? sample.prompt : salt_text(filler) + sample.prompt;
}

Json chat_messages(const Sample& sample, char filler) {
  if (!sample.messages.is_null()) {
    Json messages = sample.messages.json();
    return filler == 0 ? messages : salted_messages(std::move(messages), filler);
  }
  Json messages = Json::array();
  if (!sample.system.empty()) {
    messages.push_back(Json::object().set("role", "system").set("content", sample.system));
  }
  Json user = Json::object();
  user.set("role", "user");
  if (sample.content_parts.is_null()) {
    user.set("content", prompt_of(sample, filler));
  } else {
    Json parts = sample.content_parts;
    if (filler != 0) salt_parts(parts, filler);
    user.set("content", std::move(parts));
  }
  if (sample.body["name"].is_string()) user.set("name", sample.body["name"]);
  messages.push_back(std::move(user));
  return messages;
}

Json token_array(const Sample& sample, char filler) {
  Json::Array ids;
  ids.reserve(sample.input_tokens.size() + kSaltIds);
  const std::size_t hole = salt_position(sample);
  for (std::size_t i = 0; i <= sample.input_tokens.size(); ++i) {
    if (filler != 0 && i == hole) {
      // 1111 or 2222: an id of four times the filler's digit.
      for (std::size_t k = 0; k < kSaltIds; ++k) ids.emplace_back((filler - '0' + 1) * 1111);
    }
    if (i < sample.input_tokens.size()) ids.emplace_back(sample.input_tokens[i]);
  }
  return ids;
}

Result<void> check_messages(const Sample& sample) {
  const bool structured = !sample.messages.is_null() || !sample.content_parts.is_null();
  if (!structured && sample.prompt.empty()) {
    return invalid(sample.input_tokens.empty()
                       ? "sample: no prompt, messages or content parts; map a column to 'prompt'"
                       : "sample: input_tokens: chat takes text, not token ids; use api_type "
                         "openai_completions or sglang, or map a column to 'prompt'");
  }
  if (!sample.messages.is_null() && sample.messages.size() == 0) {
    return invalid("sample: messages: must be an array with at least one message");
  }
  return {};
}

// The reference client finds some of these only when the query is sent, and then never ends
// (spec/endpoints_client.md, 7.3).
Result<void> check_prompt(Api api, const Sample& sample) {
  const bool structured = !sample.messages.is_null() || !sample.content_parts.is_null();
  const std::string_view name = to_string(api);
  if (sample.input_tokens.empty() && sample.prompt.empty()) {
    return invalid(format("sample: {} needs 'prompt' or 'input_tokens'{}", name,
                          structured ? "; messages and content parts need api_type openai" : ""));
  }
  if (!sample.system.empty() && sample.input_tokens.empty()) {
    return invalid(
        format("sample: system: {} has no system prompt; write it into the prompt as "
               "the model's template has it, or use api_type openai",
               name));
  }
  if (!sample.tools.is_null()) {
    return invalid(format("sample: tools: {} has no tools; use api_type openai", name));
  }
  return {};
}

Result<void> check_message_salt(const Sample& sample) {
  if (sample.messages.is_null()) return {};
  for (std::size_t i = 0; i < sample.messages.size(); ++i) {
    if (has_content(sample.messages[i])) return {};
  }
  return invalid("sample: messages: no message of a user has content to salt; turn salting off");
}

}  // namespace assay::protocol
