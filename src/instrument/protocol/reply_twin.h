// The decoder's slow twin, for tests and fuzzers: the same meaning, read from a Json, and simple
// enough to be correct. It shares no code with ReplyDecoder except the names of things.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "protocol/codec.h"

namespace assay::protocol {

struct TwinEvent {
  Category category = Category::other;
  std::vector<std::pair<Category, std::string>> fragments{};
  bool has_choice = false;
  bool has_usage = false;
  FinishReason finish = FinishReason::none;
  Usage usage{};
  std::string error{};
};

inline TwinEvent own(const DecodedEvent& event) {
  TwinEvent out{event.category, {},          event.has_choice,        event.has_usage,
                event.finish,   event.usage, std::string(event.error)};
  for (std::size_t i = 0; i < event.fragment_count; ++i) {
    out.fragments.emplace_back(event.fragments[i].category, std::string(event.fragments[i].text));
  }
  return out;
}

inline bool operator==(const TwinEvent& a, const TwinEvent& b) {
  return a.category == b.category && a.fragments == b.fragments && a.has_choice == b.has_choice &&
         a.has_usage == b.has_usage && a.finish == b.finish && a.usage == b.usage &&
         a.error == b.error;
}

// Reads only OpenAI's shapes; `tool_index_` is the index of the current call.
class ReplyTwin {
 public:
  TwinEvent read(const Json& json) {
    TwinEvent out;
    const Json& choice = json["choices"][0];
    const Json& delta = choice.find("delta") != nullptr ? choice["delta"] : choice["message"];
    out.has_choice = choice.is_object();
    add(out, Category::reasoning,
        first(delta["reasoning_content"], delta["reasoning"], delta["reasoning_text"],
              parts(delta["reasoning_details"])));
    add(out, Category::text, first(delta["content"], choice["text"], delta["refusal"]));
    add(out, Category::tool_call, tool_calls(delta["tool_calls"]));
    out.finish = finish_reason_from(choice["finish_reason"].as_string());
    const Json& usage = json["usage"];
    out.has_usage = usage.is_object();
    out.usage.prompt_tokens = count(usage["prompt_tokens"]);
    out.usage.completion_tokens = count(usage["completion_tokens"]);
    out.usage.cached_tokens = count(usage["prompt_tokens_details"]["cached_tokens"]);
    out.usage.reasoning_tokens = count(usage["completion_tokens_details"]["reasoning_tokens"]);
    const Json& error = json["error"];
    out.error = error.is_string() ? error.as_string() : error["message"].as_string();
    out.category = !out.error.empty()                 ? Category::error
                   : !out.fragments.empty()           ? out.fragments[0].first
                   : out.finish != FinishReason::none ? Category::finish
                   : out.has_usage && !out.has_choice ? Category::usage
                   : unread(delta)                    ? Category::unread
                   : out.has_choice                   ? Category::role
                                                      : Category::other;
    return out;
  }

 private:
  template <typename... Rest>
  static std::string first(const Json& value, const Rest&... rest) {
    if (!value.as_string().empty()) return std::string(value.as_string());
    if constexpr (sizeof...(rest) > 0) {
      return first(rest...);
    } else {
      return "";
    }
  }
  static Json parts(const Json& details) {
    std::string out;
    for (const std::string_view name : {"text", "summary"}) {
      for (const Json& one : details.is_array() ? details.items() : Json::Array{}) {
        out += one[name].as_string();
      }
    }
    return Json(out);
  }
  static bool unread(const Json& delta) {
    constexpr std::array kRead{
        "content", "refusal", "reasoning_content", "reasoning", "reasoning_text", "role", "name",
        "id",      "type",    "tool_call_id",      "signature"};
    if (!delta.is_object()) return false;
    return std::any_of(delta.members().begin(), delta.members().end(), [&](const auto& member) {
      return !member.second.as_string().empty() &&
             std::find(kRead.begin(), kRead.end(), member.first) == kRead.end();
    });
  }
  static void add(TwinEvent& out, Category category, std::string text) {
    if (!text.empty()) out.fragments.emplace_back(category, std::move(text));
  }
  static std::int32_t count(const Json& value) {
    return static_cast<std::int32_t>(value.as_int(-1));
  }
  std::string tool_calls(const Json& calls) {
    std::string out;
    for (std::size_t i = 0; i < calls.items().size(); ++i) {
      const Json& call = calls[i];
      const auto index = static_cast<std::int32_t>(call["index"].as_int(static_cast<int>(i)));
      const std::string id(call["id"].as_string());
      const std::string name(call["function"]["name"].as_string());
      const std::string arguments(call["function"]["arguments"].as_string());
      const bool begins = id + name != "" || (!arguments.empty() && index != tool_index_);
      if (begins) {
        tool_index_ = index;
        out += '\x1E' + std::to_string(index) + '\x1F' + id + '\x1F' + name + '\x1F';
      }
      out += arguments;
    }
    return out;
  }

  std::int32_t tool_index_ = -1;
};

}  // namespace assay::protocol
