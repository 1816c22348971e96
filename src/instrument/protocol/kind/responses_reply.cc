// Replies of OpenAI's Responses: typed events, each an object with `type`, and the whole response.
//
// The first deltas are the reply's tokens: text and refusals, reasoning (raw or summarised), and
// the arguments of calls. The events `*.done` and the terminal event repeat what came, so their
// texts are not read. A call begins with its item, whose name the model generated: it counts as its
// first fragment, as in chat. response.completed, .incomplete or .failed ends the stream.
#include "protocol/kind/kind.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

bool is_call(const RawString& type) {
  return is_key(type, "function_call") || is_key(type, "custom_tool_call") ||
         is_key(type, "mcp_call");
}

struct Item {
  RawString type{};
  std::string_view content{};  // of a message, or of reasoning
  std::string_view summary{};  // of reasoning
  CallFields call{};
};

bool item_member(JsonCursor& cursor, const RawString& key, Item& item) {
  if (is_key(key, "type")) return cursor.string_or_skip(item.type);
  if (is_key(key, "call_id")) return cursor.string_or_skip(item.call.id);
  if (is_key(key, "name")) return cursor.string_or_skip(item.call.name);
  if (is_key(key, "arguments") || is_key(key, "input")) {
    return cursor.string_or_skip(item.call.arguments);
  }
  if (is_key(key, "content")) return slice_or_skip(cursor, '[', item.content);
  if (is_key(key, "summary")) return slice_or_skip(cursor, '[', item.summary);
  return cursor.skip();
}

void give_texts(std::string_view parts, PartSink& sink) {
  reread_items(parts, [&](JsonCursor& cursor) {
    return object_or_skip(cursor, [&](const RawString& key) {
      RawString words;
      if (!is_key(key, "text") && !is_key(key, "refusal")) return cursor.skip();
      const bool read = cursor.string_or_skip(words);
      sink.text(words);
      return read;
    });
  });
}

void read_output(std::string_view output, Category wanted, PartSink& sink) {
  std::int32_t index = 0;
  reread_items(output, [&](JsonCursor& cursor) {
    Item item;
    const bool sound = object_or_skip(
        cursor, [&](const RawString& key) { return item_member(cursor, key, item); });
    item.call.index = index++;
    if (is_key(item.type, "message") && wanted == Category::text) {
      give_texts(item.content, sink);
    } else if (is_key(item.type, "reasoning") && wanted == Category::reasoning) {
      // Raw reasoning where the server shows it, else its summary.
      give_texts(item.content.size() > 2 ? item.content : item.summary, sink);
    } else if (is_call(item.type) && wanted == Category::tool_call) {
      sink.call(item.call);
    }
    return sound;
  });
}

bool has_call(std::string_view output) {
  bool found = false;
  reread_items(output, [&](JsonCursor& cursor) {
    Item item;
    const bool sound = object_or_skip(
        cursor, [&](const RawString& key) { return item_member(cursor, key, item); });
    found = found || is_call(item.type);
    return sound;
  });
  return found;
}

bool usage_member(JsonCursor& cursor, const RawString& key, Usage& usage) {
  const auto details = [&](std::string_view name, std::int32_t& out) {
    return object_or_skip(cursor, [&](const RawString& inner) {
      return is_key(inner, name) ? cursor.count_or_skip(out) : cursor.skip();
    });
  };
  if (is_key(key, "input_tokens")) return cursor.count_or_skip(usage.prompt_tokens);
  if (is_key(key, "output_tokens")) return cursor.count_or_skip(usage.completion_tokens);
  if (is_key(key, "input_tokens_details")) return details("cached_tokens", usage.cached_tokens);
  if (is_key(key, "output_tokens_details")) {
    return details("reasoning_tokens", usage.reasoning_tokens);
  }
  return cursor.skip();
}

// The response object: whole, or at the stream's end.
struct Response {
  RawString status{};
  RawString reason{};  // why it is incomplete
  std::string_view output{};
};

bool response_member(JsonCursor& cursor, const RawString& key, Response& response,
                     ReplyFields& out) {
  if (is_key(key, "status")) return cursor.string_or_skip(response.status);
  if (is_key(key, "output")) return slice_or_skip(cursor, '[', response.output);
  if (is_key(key, "error")) return error_value(cursor, out.error);
  if (is_key(key, "usage")) {
    out.usage = Usage{};
    out.has_usage = cursor.peek() == '{';
    return object_or_skip(
        cursor, [&](const RawString& name) { return usage_member(cursor, name, out.usage); });
  }
  if (is_key(key, "incomplete_details")) {
    return object_or_skip(cursor, [&](const RawString& name) {
      return is_key(name, "reason") ? cursor.string_or_skip(response.reason) : cursor.skip();
    });
  }
  return cursor.skip();
}

FinishReason finish_of(const Response& response) {
  if (is_key(response.status, "incomplete")) {
    if (is_key(response.reason, "max_output_tokens")) return FinishReason::length;
    return is_key(response.reason, "content_filter") ? FinishReason::content_filter
                                                     : FinishReason::other;
  }
  return has_call(response.output) ? FinishReason::tool_calls : FinishReason::stop;
}

// A response that failed without the server's words.
void take_status(const Response& response, ReplyFields& out) {
  const bool failed = is_key(response.status, "failed") || is_key(response.status, "cancelled");
  if (!failed) out.reason = finish_of(response);
  if (failed && out.error.empty()) {
    out.object_is_error = true;
    out.message = response.status;
  }
}

struct ResponsesEvent {
  RawString type{};
  RawString delta{};
  RawString message{};
  std::int32_t output_index = -1;
  std::string_view item{};
  std::string_view response{};
};

void take_item(const ResponsesEvent& event, ReplyFields& out) {
  Item item;
  reread(event.item,
         [&](JsonCursor& cursor, const RawString& key) { return item_member(cursor, key, item); });
  if (!is_call(item.type)) return;
  out.has_call = true;
  out.call = item.call;
  out.call.arguments = RawString{};  // the deltas bring them
  out.call.index = event.output_index;
}

void take_responses_event(const ResponsesEvent& event, ReplyFields& out) {
  const std::string_view type = event.type.data == nullptr ? "" : event.type.view();
  constexpr std::string_view kOurs = "response.";
  if (type == "error") {
    out.object_is_error = out.error.empty();
    out.message = event.message;
  }
  if (!type.starts_with(kOurs)) return;
  out.has_choice = true;
  const std::string_view name = type.substr(kOurs.size());
  if (name == "output_text.delta" || name == "refusal.delta") {
    out.content = event.delta;
  } else if (name == "reasoning_text.delta" || name == "reasoning_summary_text.delta") {
    out.reasoning = event.delta;
  } else if (name == "function_call_arguments.delta" || name == "custom_tool_call_input.delta" ||
             name == "mcp_call_arguments.delta") {
    out.has_call = !event.delta.empty();
    out.call = {.index = event.output_index, .arguments = event.delta};
  } else if (name == "output_item.added") {
    take_item(event, out);
  } else if (name == "completed" || name == "incomplete" || name == "failed" ||
             name == "cancelled") {
    Response response;
    reread(event.response, [&](JsonCursor& cursor, const RawString& key) {
      return response_member(cursor, key, response, out);
    });
    if (response.status.data == nullptr) {
      response.status = {name.data(), name.size(), false};
    }
    take_status(response, out);
    out.ends = true;
  }
}

}  // namespace

bool read_responses_event(std::string_view text, ReplyFields& out) {
  ResponsesEvent event;
  const bool sound = read_root(text, out, [&](JsonCursor& cursor, const RawString& key) {
    if (is_key(key, "type")) return cursor.string_or_skip(event.type);
    if (is_key(key, "delta")) return cursor.string_or_skip(event.delta);
    if (is_key(key, "output_index")) return cursor.count_or_skip(event.output_index);
    if (is_key(key, "item")) return slice_or_skip(cursor, '{', event.item);
    if (is_key(key, "response")) return slice_or_skip(cursor, '{', event.response);
    if (is_key(key, "message")) return cursor.string_or_skip(event.message);
    if (is_key(key, "error")) return error_value(cursor, out.error);
    return cursor.skip();
  });
  if (sound) take_responses_event(event, out);
  return sound;
}

bool read_responses_reply(std::string_view text, ReplyFields& out) {
  Response response;
  const bool sound = read_root(text, out, [&](JsonCursor& cursor, const RawString& key) {
    return response_member(cursor, key, response, out);
  });
  if (!sound) return false;
  out.has_choice = !response.output.empty() && !is_key(response.status, "in_progress") &&
                   !is_key(response.status, "queued");
  if (!out.has_choice && out.error.empty()) return true;
  take_status(response, out);
  out.items = response.output;
  out.read_parts = read_output;
  return true;
}

}  // namespace assay::protocol
