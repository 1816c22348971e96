// ReplyFields: what stands where in one event of a stream, or in one whole reply. Found by one
// pass; nothing is unescaped or copied yet. Only decoders need this (reply_decoder.cc).
//
// As JSON's readers have it, the last of repeated keys counts; a null is the same as no key; a key
// that we do not know is passed over.
#pragma once

#include <string_view>

#include "domain/event.h"
#include "protocol/json_cursor.h"

namespace assay::protocol {

struct ReplyFields {
  // choices[0]: delta or message, or text and finish_reason beside it.
  bool has_choice = false;
  std::int32_t choice = -1;  // its index
  RawString content{};
  RawString refusal{};
  RawString reasoning_content{};
  RawString reasoning{};
  RawString choice_text{};
  std::string_view content_parts{};  // where content is an array
  std::string_view tool_calls{};
  std::string_view function_call{};
  RawString finish{};
  RawString finish_message{};  // SGLang gives a reason as an object, with words when it aborts
  // The choices behind the first, as they stand, with the commas between them.
  std::string_view more_choices{};

  // The root.
  bool has_usage = false;
  Usage usage{};
  RawString text{};  // SGLang's
  std::string_view output_ids{};
  std::string_view error{};  // the value of "error", whatever it is, but null, false and ""
  bool object_is_error = false;
  RawString message{};

  std::size_t raw_controls = 0;  // in all strings: each is laid down as three bytes
};

// False when the text is no JSON object. REQUIRES: padding as JsonCursor needs.
bool read_reply(std::string_view text, ReplyFields& out);
// One of `more_choices`, taken off its front, as if it were the event's only one. REQUIRES: not
// empty; the event was sound.
void read_next_choice(std::string_view& more_choices, ReplyFields& out);

// True when `key` is `name`; a key written with escapes too.
bool is_escaped_key(const RawString& key, std::string_view name);
inline bool is_key(const RawString& key, std::string_view name) {
  if (__builtin_expect(key.escaped, 0)) return is_escaped_key(key, name);
  return key.size == name.size() && std::memcmp(key.data, name.data(), name.size()) == 0;
}

}  // namespace assay::protocol
