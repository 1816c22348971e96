// Replies of Anthropic's Messages: typed events, and the whole message.
//
// Text, thinking and the pieces of a tool's input are the reply's tokens. A tool's use begins with
// its block, whose name the model generated: it counts as the call's first fragment, as in chat.
// The prompt's tokens are the sum of the uncached and the cached ones, so that they mean the same
// as in other kinds; counts in message_delta replace earlier ones, and the output count of
// message_start means nothing. message_stop ends the stream.
#include "protocol/kind/kind.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

struct Block {
  RawString type{};
  RawString text{};      // of text
  RawString thinking{};  // of thinking
  CallFields call{};     // of a tool's use
};

bool block_member(JsonCursor& cursor, const RawString& key, Block& block) {
  if (is_key(key, "type")) return cursor.string_or_skip(block.type);
  if (is_key(key, "text")) return cursor.string_or_skip(block.text);
  if (is_key(key, "thinking")) return cursor.string_or_skip(block.thinking);
  if (is_key(key, "id")) return cursor.string_or_skip(block.call.id);
  if (is_key(key, "name")) return cursor.string_or_skip(block.call.name);
  if (is_key(key, "input")) return slice_or_skip(cursor, '{', block.call.arguments_value);
  return cursor.skip();
}

bool is_use(const RawString& type) {
  return is_key(type, "tool_use") || is_key(type, "server_tool_use");
}

void read_blocks(std::string_view content, Category wanted, PartSink& sink) {
  std::int32_t index = 0;
  reread_items(content, [&](JsonCursor& cursor) {
    Block block;
    const bool sound = object_or_skip(
        cursor, [&](const RawString& key) { return block_member(cursor, key, block); });
    block.call.index = index++;
    if (is_key(block.type, "text") && wanted == Category::text) sink.text(block.text);
    if (is_key(block.type, "thinking") && wanted == Category::reasoning) {
      sink.text(block.thinking);
    }
    if (is_use(block.type) && wanted == Category::tool_call) sink.call(block.call);
    return sound;
  });
}

struct Counts {
  std::int32_t uncached = -1;
  std::int32_t written = -1;
  std::int32_t cached = -1;
  std::int32_t output = -1;
};

bool counts_of(JsonCursor& cursor, Counts& counts, bool& present) {
  present = cursor.peek() == '{';
  return object_or_skip(cursor, [&](const RawString& key) {
    if (is_key(key, "input_tokens")) return cursor.count_or_skip(counts.uncached);
    if (is_key(key, "cache_creation_input_tokens")) return cursor.count_or_skip(counts.written);
    if (is_key(key, "cache_read_input_tokens")) return cursor.count_or_skip(counts.cached);
    if (is_key(key, "output_tokens")) return cursor.count_or_skip(counts.output);
    return cursor.skip();
  });
}

// The sum of what is reported; no valid count where one of them is none, or the sum is too large.
std::int32_t prompt_tokens_of(const Counts& counts) {
  if (counts.uncached < 0) return counts.uncached;
  std::int64_t sum = counts.uncached;
  for (const std::int32_t more : {counts.written, counts.cached}) {
    if (more == kNoCount) return kNoCount;
    if (more > 0) sum += more;
  }
  return sum > 0x7fffffff ? kNoCount : static_cast<std::int32_t>(sum);
}

Usage usage_of(const Counts& counts) {
  return {.prompt_tokens = prompt_tokens_of(counts),
          .completion_tokens = counts.output,
          .cached_tokens = counts.cached};
}

FinishReason finish_of_stop(const RawString& reason) {
  if (reason.empty()) return FinishReason::none;
  if (is_key(reason, "end_turn") || is_key(reason, "stop_sequence")) return FinishReason::stop;
  if (is_key(reason, "max_tokens") || is_key(reason, "model_context_window_exceeded")) {
    return FinishReason::length;
  }
  if (is_key(reason, "tool_use")) return FinishReason::tool_calls;
  if (is_key(reason, "refusal")) return FinishReason::content_filter;
  return FinishReason::other;
}

struct MessagesEvent {
  RawString type{};
  std::int32_t index = -1;
  RawString stop_reason{};
  RawString partial_json{};
  Block block{};  // content_block, or delta
  Counts counts{};
  bool has_counts = false;
};

bool message_member(JsonCursor& cursor, const RawString& key, MessagesEvent& event) {
  return is_key(key, "usage") ? counts_of(cursor, event.counts, event.has_counts) : cursor.skip();
}

bool typed_member(JsonCursor& cursor, const RawString& key, MessagesEvent& event,
                  ReplyFields& out) {
  if (is_key(key, "type")) return cursor.string_or_skip(event.type);
  if (is_key(key, "index")) return cursor.count_or_skip(event.index);
  if (is_key(key, "delta") || is_key(key, "content_block")) {
    return object_or_skip(cursor, [&](const RawString& name) {
      if (is_key(name, "stop_reason")) return cursor.string_or_skip(event.stop_reason);
      if (is_key(name, "partial_json")) return cursor.string_or_skip(event.partial_json);
      return block_member(cursor, name, event.block);
    });
  }
  if (is_key(key, "message")) {
    return object_or_skip(
        cursor, [&](const RawString& name) { return message_member(cursor, name, event); });
  }
  if (is_key(key, "usage")) return counts_of(cursor, event.counts, event.has_counts);
  if (is_key(key, "error")) return error_value(cursor, out.error);
  return cursor.skip();
}

void take_block(const MessagesEvent& event, bool begins, ReplyFields& out) {
  out.content = event.block.text;
  out.reasoning = event.block.thinking;
  if (begins && is_use(event.block.type)) {
    out.has_call = true;
    out.call = {.index = event.index, .id = event.block.call.id, .name = event.block.call.name};
  } else if (!event.partial_json.empty()) {
    out.has_call = true;
    out.call = {.index = event.index, .arguments = event.partial_json};
  }
}

void take_messages_event(const MessagesEvent& event, ReplyFields& out) {
  const bool starts = is_key(event.type, "message_start");
  const bool begins = is_key(event.type, "content_block_start");
  if (is_key(event.type, "message_stop")) {
    out.has_choice = out.ends = true;
  } else if (begins || is_key(event.type, "content_block_delta")) {
    out.has_choice = true;
    take_block(event, begins, out);
  } else if (starts || is_key(event.type, "message_delta")) {
    out.has_choice = true;
    out.has_usage = event.has_counts;
    out.usage = usage_of(event.counts);
    if (starts) out.usage.completion_tokens = -1;
    out.reason = finish_of_stop(event.stop_reason);
  } else {
    out.has_choice = is_key(event.type, "content_block_stop");
  }
}

}  // namespace

bool read_messages_event(std::string_view text, ReplyFields& out) {
  MessagesEvent event;
  const bool sound = read_root(text, out, [&](JsonCursor& cursor, const RawString& key) {
    return typed_member(cursor, key, event, out);
  });
  if (sound) take_messages_event(event, out);
  return sound;
}

bool read_messages_reply(std::string_view text, ReplyFields& out) {
  MessagesEvent message;
  RawString reason;
  const bool sound = read_root(text, out, [&](JsonCursor& cursor, const RawString& key) {
    if (is_key(key, "content")) return slice_or_skip(cursor, '[', out.items);
    if (is_key(key, "stop_reason")) return cursor.string_or_skip(reason);
    if (is_key(key, "error")) return error_value(cursor, out.error);
    return message_member(cursor, key, message);
  });
  if (!sound) return false;
  out.has_choice = !out.items.empty();
  out.has_usage = message.has_counts;
  out.usage = usage_of(message.counts);
  out.reason = finish_of_stop(reason);
  out.read_parts = read_blocks;
  return true;
}

}  // namespace assay::protocol
