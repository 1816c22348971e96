// Tool calls as text: how a reply's tool-call fragments are written down, and read again.
//
// A stream gives a call in pieces: once its id and the function's name, then its arguments bit by
// bit, a token or so each. Fragments keep only what the model said, so that their lengths and
// token counts mean something, and two control bytes keep them apart (no JSON text may hold a raw
// control byte, so arguments never do):
//
//   a call begins   RS index US id US name US arguments…      RS = 0x1E, US = 0x1F
//   it goes on      arguments…                                 of the call of the last RS
//
// All tool_call fragments of a reply, joined, are one such text. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

inline constexpr char kToolCallBegins = '\x1E';
inline constexpr char kToolCallField = '\x1F';

struct ToolCall {
  std::int32_t index = 0;  // the server's; pieces of one call share it
  std::string id{};
  std::string name{};
  std::string arguments{};  // JSON, if the model got it right
  bool operator==(const ToolCall&) const = default;
};

// The calls in order of their first piece. Pieces with the same index are one call, unless both
// bring an id and the ids differ (some servers number every call 0).
std::vector<ToolCall> tool_calls_from(std::string_view text);

// What the model generated of it: names and arguments without ids and control bytes, for counting
// tokens.
std::string tool_call_words(std::string_view text);

}  // namespace assay
