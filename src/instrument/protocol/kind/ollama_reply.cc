// Replies of Ollama's own API: one object a line, and the same object whole. Thinking, content (or
// response) and calls are the reply's tokens; a call comes whole. The line that is done ends the
// stream, may hold text, and has the counts where the server gives any.
#include "protocol/kind/kind.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

FinishReason finish_of_line(const RawString& reason) {
  if (is_key(reason, "length")) return FinishReason::length;
  // A line that is done without a reason: older servers.
  return reason.empty() || is_key(reason, "stop") ? FinishReason::stop : FinishReason::other;
}

bool is_true(JsonCursor& cursor, bool& out) {
  out = cursor.peek() == 't';
  return cursor.skip();
}

bool read_count(JsonCursor& cursor, std::int32_t& out, bool& present) {
  if (!cursor.count_or_skip(out)) return false;
  present = present || out != -1;
  return true;
}

bool content_member(JsonCursor& cursor, const RawString& key, ReplyFields& out) {
  if (is_key(key, "content")) return cursor.string_or_skip(out.content);
  if (is_key(key, "thinking")) return cursor.string_or_skip(out.reasoning);
  if (is_key(key, "tool_calls")) return slice_or_skip(cursor, '[', out.tool_calls);
  return cursor.skip();
}

}  // namespace

bool read_ollama_line(std::string_view text, ReplyFields& out) {
  RawString reason;
  bool done = false;
  const bool sound = read_root(text, out, [&](JsonCursor& cursor, const RawString& key) {
    if (is_key(key, "message")) {
      out.has_choice = cursor.peek() == '{';
      return object_or_skip(
          cursor, [&](const RawString& name) { return content_member(cursor, name, out); });
    }
    if (is_key(key, "response")) {
      out.has_choice = cursor.peek() == '"';
      return cursor.string_or_skip(out.content);
    }
    if (is_key(key, "done")) return is_true(cursor, done);
    if (is_key(key, "done_reason")) return cursor.string_or_skip(reason);
    if (is_key(key, "prompt_eval_count")) {
      return read_count(cursor, out.usage.prompt_tokens, out.has_usage);
    }
    if (is_key(key, "eval_count")) {
      return read_count(cursor, out.usage.completion_tokens, out.has_usage);
    }
    if (is_key(key, "error")) return error_value(cursor, out.error);
    return content_member(cursor, key, out);
  });
  if (!sound) return false;
  out.ends = done;
  out.has_choice = out.has_choice || done;
  if (done) out.reason = finish_of_line(reason);
  return true;
}

}  // namespace assay::protocol
