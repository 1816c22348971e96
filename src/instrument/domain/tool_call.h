// Tool calls as text: how the tool-call fragments of a reply are stored and read again.
//
// A stream gives a call in pieces: first its id and the function's name, then its arguments, a
// token or so in each piece. Fragments keep only the model's own words, so that their lengths and
// token counts are meaningful. Two control bytes separate them (JSON text holds no raw control
// bytes, so arguments never do):
//
//   a call begins   RS index US id US name US arguments…      RS = 0x1E, US = 0x1F
//   it goes on      arguments…                                 of the call of the last RS
//
// All tool_call fragments of a reply, joined, make one such text. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace assay {

inline constexpr char kToolCallBegins = '\x1E';
inline constexpr char kToolCallField = '\x1F';

struct ToolCall {
  std::int32_t index = 0;  // the server's number; pieces of one call share it
  std::string id{};
  std::string name{};
  std::string arguments{};  // JSON, if the model wrote it correctly
  bool operator==(const ToolCall&) const = default;
};

// The calls in order of their first piece. Pieces with the same index are one call, unless both
// have an id and the ids differ (some servers number every call 0).
std::vector<ToolCall> tool_calls_from(std::string_view text);

// The calls in the form of OpenAI's API; null for no text.
Json tool_call_list(std::string_view text);

// The generated words, for counting tokens: names and arguments without ids and control bytes.
std::string tool_call_words(std::string_view text);

}  // namespace assay
