// The events of a realtime session that are the reply to one turn. Text comes as text, or as the
// transcript of what is spoken; sound in base64; response.done ends the turn, with the counts.
// Events `*.done` repeat what came, so their texts are not read. The names of the beta are read
// too.
#include "protocol/kind/kind.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

struct TurnEvent {
  RawString type{};
  RawString delta{};
  std::int32_t output_index = -1;
  std::string_view item{};
  std::string_view response{};
};

// The response at the turn's end.
struct TurnEnd {
  RawString status{};
  RawString reason{};  // why it is not complete
  std::string_view output{};
};

bool is_turns_call(const RawString& type) { return is_key(type, "function_call"); }

bool call_member(JsonCursor& cursor, const RawString& key, RawString& type, CallFields& call) {
  if (is_key(key, "type")) return cursor.string_or_skip(type);
  if (is_key(key, "call_id")) return cursor.string_or_skip(call.id);
  if (is_key(key, "name")) return cursor.string_or_skip(call.name);
  return cursor.skip();
}

bool calls(std::string_view output) {
  bool found = false;
  reread_items(output, [&](JsonCursor& cursor) {
    RawString type;
    CallFields call;
    const bool sound = object_or_skip(
        cursor, [&](const RawString& key) { return call_member(cursor, key, type, call); });
    found = found || is_turns_call(type);
    return sound;
  });
  return found;
}

bool usage_of_turn(JsonCursor& cursor, ReplyFields& out) {
  out.usage = Usage{};
  out.has_usage = cursor.peek() == '{';
  return object_or_skip(cursor, [&](const RawString& key) {
    if (is_key(key, "input_tokens")) return cursor.count_or_skip(out.usage.prompt_tokens);
    if (is_key(key, "output_tokens")) return cursor.count_or_skip(out.usage.completion_tokens);
    if (!is_key(key, "input_token_details")) return cursor.skip();
    return object_or_skip(cursor, [&](const RawString& inner) {
      return is_key(inner, "cached_tokens") ? cursor.count_or_skip(out.usage.cached_tokens)
                                            : cursor.skip();
    });
  });
}

bool details_of_turn(JsonCursor& cursor, TurnEnd& end, ReplyFields& out) {
  return object_or_skip(cursor, [&](const RawString& key) {
    if (is_key(key, "reason")) return cursor.string_or_skip(end.reason);
    return is_key(key, "error") ? error_value(cursor, out.error) : cursor.skip();
  });
}

// "" for what is no event.
std::string_view type_of_event(std::string_view text) {
  JsonCursor cursor(text);
  RawString type;
  const bool sound = object_or_skip(cursor, [&](const RawString& key) {
    return is_key(key, "type") ? cursor.string_or_skip(type) : cursor.skip();
  });
  return sound && type.data != nullptr ? type.view() : std::string_view{};
}

void take_end(std::string_view response, ReplyFields& out) {
  TurnEnd end;
  reread(response, [&](JsonCursor& cursor, const RawString& key) {
    if (is_key(key, "status")) return cursor.string_or_skip(end.status);
    if (is_key(key, "status_details")) return details_of_turn(cursor, end, out);
    if (is_key(key, "output")) return slice_or_skip(cursor, '[', end.output);
    return is_key(key, "usage") ? usage_of_turn(cursor, out) : cursor.skip();
  });
  out.ends = true;
  if (is_key(end.status, "failed") || is_key(end.status, "cancelled")) {
    out.object_is_error = out.error.empty();
    out.message = end.reason.empty() ? end.status : end.reason;
  } else if (is_key(end.status, "incomplete")) {
    out.reason = is_key(end.reason, "max_output_tokens") ? FinishReason::length
                 : is_key(end.reason, "content_filter")  ? FinishReason::content_filter
                                                         : FinishReason::other;
  } else {
    out.reason = calls(end.output) ? FinishReason::tool_calls : FinishReason::stop;
  }
}

void take_turn_event(const TurnEvent& event, ReplyFields& out) {
  const std::string_view type = event.type.view();
  constexpr std::string_view kOurs = "response.";
  if (!type.starts_with(kOurs)) return;
  out.has_choice = true;
  const std::string_view name = type.substr(kOurs.size());
  if (name == "output_audio.delta" || name == "audio.delta") {
    out.sound = event.delta;
  } else if (name == "output_text.delta" || name == "output_audio_transcript.delta" ||
             name == "text.delta" || name == "audio_transcript.delta") {
    out.content = event.delta;
  } else if (name == "function_call_arguments.delta") {
    out.has_call = !event.delta.empty();
    out.call = {.index = event.output_index, .arguments = event.delta};
  } else if (name == "output_item.added") {
    RawString item_type;
    CallFields call;
    reread(event.item, [&](JsonCursor& cursor, const RawString& key) {
      return call_member(cursor, key, item_type, call);
    });
    if (!is_turns_call(item_type)) return;
    out.has_call = true;
    out.call = call;
    out.call.index = event.output_index;
  } else if (name == "done") {
    take_end(event.response, out);
  }
}

}  // namespace

bool read_turn_event(std::string_view text, ReplyFields& out) {
  TurnEvent event;
  const bool sound = read_root(text, out, [&](JsonCursor& cursor, const RawString& key) {
    if (is_key(key, "type")) return cursor.string_or_skip(event.type);
    if (is_key(key, "delta")) return cursor.string_or_skip(event.delta);
    if (is_key(key, "output_index")) return cursor.count_or_skip(event.output_index);
    if (is_key(key, "item")) return slice_or_skip(cursor, '{', event.item);
    if (is_key(key, "response")) return slice_or_skip(cursor, '{', event.response);
    if (is_key(key, "error")) return error_value(cursor, out.error);
    return cursor.skip();
  });
  if (sound) take_turn_event(event, out);
  return sound;
}

bool beside_the_turn(std::string_view text) {
  const std::string_view type = type_of_event(text);
  return !type.empty() && !type.starts_with("response.") && type != "error";
}

bool ends_the_turn(std::string_view text) {
  const std::string_view type = type_of_event(text);
  return type == "response.done" || type == "error";
}

}  // namespace assay::protocol
