// ReplyFields: the places of the fields in one stream event, or in one whole reply, the same for
// every kind of API. One pass finds them; it unescapes and copies nothing. The kinds' readers fill
// it (kind/), and reply_decoder.cc interprets it. read_reply() is the grammar of chat completions,
// completions and SGLang.
//
// As in common JSON readers, the last of repeated keys counts; a null equals a missing key; unknown
// keys are skipped.
#pragma once

#include <string_view>

#include "domain/event.h"
#include "protocol/json_cursor.h"

namespace assay::protocol {

// A piece of a tool call.
struct CallFields {
  std::int32_t index = -1;
  RawString id{};
  RawString name{};
  RawString arguments{};
  std::string_view arguments_value{};  // if not a string: some servers send an object
};

// Takes what a reader of parts finds. `arguments`: as in CallFields.
class PartSink {
 public:
  virtual void text(const RawString& text) = 0;
  virtual void call(const CallFields& call) = 0;

 protected:
  ~PartSink() = default;
};
// Gives all parts of one category to the sink, in order. REQUIRES: `items` is sound JSON.
using ReadParts = void (*)(std::string_view items, Category wanted, PartSink& sink);

struct ReplyFields {
  // choices[0]: delta or message, or text and finish_reason beside it.
  bool has_choice = false;
  std::int32_t choice = -1;  // its index
  RawString content{};
  RawString refusal{};
  RawString reasoning_content{};
  RawString reasoning{};
  RawString reasoning_text{};
  RawString choice_text{};
  RawString unread{};                    // a name that is none of these and brings words
  std::string_view content_parts{};      // where content is an array
  std::string_view reasoning_details{};  // an array of parts with a text or a summary
  std::string_view tool_calls{};
  std::string_view function_call{};
  RawString finish{};
  RawString finish_message{};  // SGLang gives a reason as an object, with words when it aborts
  // The choices after the first, unchanged, with the commas between them.
  std::string_view more_choices{};

  // The root.
  bool has_usage = false;
  Usage usage{};
  RawString text{};  // SGLang's
  std::string_view output_ids{};
  std::string_view error{};  // the value of "error", except null, false and ""
  bool object_is_error = false;
  RawString message{};

  // What the readers of the kinds with typed events set (kind/).
  bool has_call = false;
  CallFields call{};
  FinishReason reason = FinishReason::none;  // in our words
  bool ends = false;                         // the stream's own end
  ReadParts read_parts = nullptr;            // of a whole reply in parts, which are `items`
  std::string_view items{};
  std::string_view payload{};  // bytes that are the answer; its text is their base64
  std::uint32_t units = 0;     // vectors, scores, …: what a reply without tokens holds
  RawString sound{};           // a piece of it, in base64

  std::size_t raw_controls = 0;  // in all strings: each becomes three bytes
};

// False when the text is no JSON object. REQUIRES: padding as JsonCursor needs.
bool read_reply(std::string_view text, ReplyFields& out);
// Takes one choice from the front of `more_choices` and reads it as if it were the event's only
// one. REQUIRES: not empty; the event was valid.
void read_next_choice(std::string_view& more_choices, ReplyFields& out);

// True when `key` is `name`; a key written with escapes too.
bool is_escaped_key(const RawString& key, std::string_view name);
// Always in place: `name` is a constant then, and for most keys its size decides.
[[gnu::always_inline]] inline bool is_key(const RawString& key, std::string_view name) {
  if (__builtin_expect(key.escaped, 0)) return is_escaped_key(key, name);
  return key.size == name.size() && std::memcmp(key.data, name.data(), name.size()) == 0;
}

}  // namespace assay::protocol
