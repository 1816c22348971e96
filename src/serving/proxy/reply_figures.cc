#include "proxy/reply_figures.h"

#include <algorithm>
#include <string_view>

#include "base/json.h"
#include "net/sse.h"

namespace assay::proxy {
namespace {

constexpr std::int64_t kTokensMax = 10'000'000;  // what a trace's reader takes

std::optional<std::int64_t> count_at(const Json& usage, std::string_view a, std::string_view b) {
  for (const std::string_view key : {a, b}) {
    const Json& value = usage[key];
    if (value.is_integer() && value.as_int(-1) >= 0 && value.as_int() <= kTokensMax) {
      return value.as_int();
    }
  }
  return std::nullopt;
}

void take_usage(const Json& usage, ReplyFigures& out) {
  if (!usage.is_object()) return;
  if (const auto n = count_at(usage, "completion_tokens", "output_tokens")) out.output_tokens = n;
  auto input = count_at(usage, "prompt_tokens", "input_tokens");
  std::optional<std::int64_t> cached =
      count_at(usage["prompt_tokens_details"], "cached_tokens", "cached_tokens");
  if (!cached) cached = count_at(usage["input_tokens_details"], "cached_tokens", "cached_tokens");
  // Messages counts what it had cached, and what it wrote there, apart from its input.
  const auto read = count_at(usage, "cache_read_input_tokens", "cache_read_input_tokens");
  const auto made = count_at(usage, "cache_creation_input_tokens", "cache_creation_input_tokens");
  if (read) cached = read;
  if (input) *input = std::min(kTokensMax, *input + read.value_or(0) + made.value_or(0));
  if (input) out.input_tokens = input;
  if (cached) out.cached_tokens = cached;
}

// Adds a text that is output; true where it is one.
bool take_text(const Json& value, ReplyFigures& out) {
  if (value.as_string().empty()) return false;
  out.text += value.as_string();
  return true;
}

bool take_message(const Json& message, ReplyFigures& out) {
  bool some = take_text(message["content"], out);
  some |= take_text(message["reasoning_content"], out);
  some |= take_text(message["reasoning"], out);
  for (const Json& call : message["tool_calls"].items()) {
    some |= take_text(call["function"]["name"], out);
    some |= take_text(call["function"]["arguments"], out);
  }
  return some;
}

// A Messages or Responses list of parts, in a whole reply.
bool take_parts(const Json& parts, ReplyFigures& out) {
  bool some = false;
  for (const Json& part : parts.items()) {
    some |= take_text(part["text"], out);
    some |= take_text(part["thinking"], out);
    some |= take_text(part["arguments"], out);
    if (part["input"].is_object() && part["input"].size() > 0) {
      out.text += part["input"].dump();
      some = true;
    }
    for (const Json& inner : part["content"].items()) some |= take_text(inner["text"], out);
  }
  return some;
}

// One event's data, or a whole reply; true where it brought output.
bool take_json(const Json& json, ReplyFigures& out) {
  take_usage(json["usage"], out);
  take_usage(json["message"]["usage"], out);
  take_usage(json["response"]["usage"], out);
  bool some = false;
  for (const Json& choice : json["choices"].items()) {
    some |= take_message(choice["delta"], out);
    some |= take_message(choice["message"], out);
    some |= take_text(choice["text"], out);
  }
  const Json& delta = json["delta"];
  for (const std::string_view key : {"text", "thinking", "partial_json"}) {
    some |= take_text(delta[key], out);
  }
  if (json["type"].as_string().ends_with(".delta")) some |= take_text(delta, out);
  some |= take_parts(json["content"], out);
  some |= take_parts(json["output"], out);
  return some;
}

std::string content_text(const Json& content) {
  return content.is_string() ? std::string(content.as_string()) : content.dump();
}

}  // namespace

ReplyFigures read_reply(const Seen& seen) {
  ReplyFigures out;
  if (seen.coded) return out;
  if (!seen.event_stream) {
    const auto json = Json::parse(seen.reply);
    if (json && take_json(*json, out)) out.outputs.push_back(seen.ended);
    return out;
  }
  net::SseParser parser;
  std::string_view rest = seen.reply;
  for (const auto& [at, bytes] : seen.pieces) {
    const std::string piece(rest.substr(0, bytes));  // the parser wants room behind it
    rest.remove_prefix(piece.size());
    const Instant when = at;
    const bool more = parser.feed(piece, [&out, when](std::string_view data, std::size_t) {
      const auto json = Json::parse(data);
      if (json && take_json(*json, out)) out.outputs.push_back(when);
    });
    if (!more) break;
  }
  return out;
}

std::string prompt_text(std::string_view body) {
  const auto json = Json::parse(body);
  if (!json || !json->is_object()) return {};
  const Json& messages = (*json)["messages"];
  const Json& prompt = (*json)["prompt"];
  const Json& input = (*json)["input"];
  const bool responses = input.is_string() || input[0]["role"].is_string();
  if (!messages.is_array() && prompt.is_null() && !responses) return {};
  if (messages.is_null() && !responses && !prompt.is_string()) return prompt.dump();
  std::string out;
  for (const std::string_view key : {"tools", "system", "instructions"}) {
    const Json& value = (*json)[key];
    if (!value.is_null()) out += content_text(value) + "\n";
  }
  if (prompt.is_string()) return out + std::string(prompt.as_string());
  if (input.is_string()) return out + std::string(input.as_string());
  for (const Json& message : (messages.is_array() ? messages : input).items()) {
    out += "<" + std::string(message["role"].as_string()) + ">";
    for (const auto& [key, value] : message.members()) {
      if (key != "role" && !value.is_null()) out += content_text(value);
    }
    out += "\n";
  }
  return out;
}

}  // namespace assay::proxy
