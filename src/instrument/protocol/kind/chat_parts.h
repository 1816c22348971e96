// Reads OpenAI's chat messages, parts and tools (as datasets hold them), for the kinds that have
// forms of their own for them.
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace assay::protocol {

// A chat's content as parts: a string is one text part; null is none.
Json parts_of(const Json& content);
// The text of a content: the string, or all text parts joined.
std::string text_of(const Json& content);

// A picture's address: of an image_url part, as an object or a string; "" for another part.
std::string_view picture_of(const Json& part);
// The media type and the base64 of a data: URL; both empty for another URL.
struct DataUrl {
  std::string_view media_type{};
  std::string_view base64{};
};
DataUrl data_url(std::string_view url);

// The function of a tool, or of a call: its own object, or the tool itself.
const Json& function_of(const Json& tool);
// A call's arguments as an object; they are JSON text in chat.
Json arguments_of(const Json& call);

// A chat's messages as items of Responses (and realtime): texts, calls, and calls' outputs.
Json input_items(const Json& messages);
// Tools as these have them: {"type": "function", …} instead of {"type": "function", "function":
// {…}}.
Json flat_tool(const Json& tool);
Json flat_tools(const Json& tools);

}  // namespace assay::protocol
