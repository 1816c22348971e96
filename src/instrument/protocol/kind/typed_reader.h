// What the readers of kinds with typed events share: steps of JsonCursor that skip a value of
// another type, and the common shape of an error. Only for kind/. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "protocol/json_cursor.h"
#include "protocol/reply_fields.h"

namespace assay::protocol {

// Reads an object's members with `on_member`; skips any other value.
template <typename OnMember>
bool object_or_skip(JsonCursor& cursor, OnMember&& on_member) {
  return cursor.peek() == '{' ? cursor.object(on_member) : cursor.skip();
}

// The text of an object or an array that opens with `opening`; empty for any other value.
inline bool slice_or_skip(JsonCursor& cursor, char opening, std::string_view& out) {
  out = {};
  return cursor.peek() == opening ? cursor.slice(out) : cursor.skip();
}

// A usage that has input_tokens and output_tokens and nothing else to count.
inline bool usage_or_skip(JsonCursor& cursor, ReplyFields& out) {
  return object_or_skip(cursor, [&](const RawString& key) {
    std::int32_t* const count = is_key(key, "input_tokens")    ? &out.usage.prompt_tokens
                                : is_key(key, "output_tokens") ? &out.usage.completion_tokens
                                                               : nullptr;
    if (count == nullptr) return cursor.skip();
    out.has_usage = true;
    return cursor.count_or_skip(*count);
  });
}

// The value of a member named error, as ReplyFields has it.
inline bool error_value(JsonCursor& cursor, std::string_view& out) {
  if (!cursor.slice(out)) return false;
  if (out == "null" || out == "false" || out == "\"\"") out = {};
  return true;
}

// A whole text that is one object.
template <typename OnMember>
bool read_root(std::string_view text, ReplyFields& out, OnMember&& on_member) {
  JsonCursor cursor(text);
  if (cursor.peek() != '{') return false;
  const bool sound = cursor.object([&](const RawString& key) { return on_member(cursor, key); });
  out.raw_controls = cursor.raw_controls();
  return sound && cursor.at_end();
}

// Reads the members of an object that a cursor has read before.
template <typename OnMember>
void reread(std::string_view object, OnMember&& on_member) {
  if (object.empty()) return;
  JsonCursor cursor(object);
  cursor.object([&](const RawString& key) { return on_member(cursor, key); });
}

// The items of an array that a cursor has read before; on_item() must take the item.
template <typename OnItem>
void reread_items(std::string_view array, OnItem&& on_item) {
  if (array.empty()) return;
  JsonCursor cursor(array);
  cursor.array([&] { return on_item(cursor); });
}

}  // namespace assay::protocol
