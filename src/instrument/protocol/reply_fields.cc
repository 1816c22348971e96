#include "protocol/reply_fields.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace assay::protocol {
namespace {

class ReplyReader {
 public:
  ReplyReader(std::string_view text, ReplyFields& fields) : cursor_(text), f_(fields) {}

  bool root() {
    if (cursor_.peek() != '{') return false;
    const bool sound = cursor_.object([this](const RawString& key) { return root_member(key); });
    f_.raw_controls = cursor_.raw_controls();
    return sound && cursor_.at_end();
  }

  bool only_choice() { return choice(); }

 private:
  // Reads an object's members with `on_member`; skips any other value.
  template <typename OnMember>
  bool object_or_skip(OnMember&& on_member) {
    if (cursor_.peek() != '{') return cursor_.skip();
    return cursor_.object(on_member);
  }

  bool slice_of(char opening, std::string_view& out) {
    out = {};
    if (cursor_.peek() != opening) return cursor_.skip();
    return cursor_.slice(out);
  }

  bool root_member(const RawString& key) {
    if (is_key(key, "choices")) return choices();
    if (is_key(key, "usage")) return usage();
    if (is_key(key, "error")) return error();
    if (is_key(key, "object")) return object_name();
    if (is_key(key, "message")) return cursor_.string_or_skip(f_.message);
    if (is_key(key, "text")) return cursor_.string_or_skip(f_.text);
    if (is_key(key, "output_ids")) return slice_of('[', f_.output_ids);
    if (is_key(key, "meta_info")) return meta_info();
    if (is_key(key, "x_groq")) {
      return object_or_skip([this](const RawString& name) {
        return is_key(name, "usage") ? usage() : cursor_.skip();
      });
    }
    return cursor_.skip();
  }

  bool choices() {
    clear_choice();
    if (cursor_.peek() != '[') return cursor_.skip();
    bool first = true;
    return cursor_.array([&] {
      if (first) {
        first = false;
        return choice();
      }
      std::string_view one;
      if (!cursor_.slice(one)) return false;
      const char* const begin = f_.more_choices.empty() ? one.data() : f_.more_choices.data();
      f_.more_choices = {begin, static_cast<std::size_t>(one.data() + one.size() - begin)};
      return true;
    });
  }

  bool choice() {
    if (cursor_.peek() != '{') return cursor_.skip();
    f_.has_choice = true;
    return cursor_.object([this](const RawString& key) { return choice_member(key); });
  }

  void clear_choice() {
    f_.has_choice = false;
    f_.choice = -1;
    f_.more_choices = {};
    clear_delta();
    f_.choice_text = RawString{};
    f_.finish = RawString{};
    f_.finish_message = RawString{};
  }

  void clear_delta() {
    f_.content = RawString{};
    f_.refusal = RawString{};
    f_.reasoning_content = RawString{};
    f_.reasoning = RawString{};
    f_.reasoning_text = RawString{};
    f_.unread = RawString{};
    f_.reasoning_details = {};
    f_.content_parts = {};
    f_.tool_calls = {};
    f_.function_call = {};
  }

  bool choice_member(const RawString& key) {
    if (is_key(key, "delta") || is_key(key, "message")) {
      clear_delta();
      return object_or_skip([this](const RawString& name) { return delta_member(name); });
    }
    if (is_key(key, "text")) return cursor_.string_or_skip(f_.choice_text);
    if (is_key(key, "finish_reason")) return finish_reason();
    if (is_key(key, "index")) return cursor_.count_or_skip(f_.choice);
    return cursor_.skip();
  }

  bool delta_member(const RawString& key) {
    if (is_key(key, "content")) return content();
    if (is_key(key, "reasoning_content")) return cursor_.string_or_skip(f_.reasoning_content);
    if (is_key(key, "reasoning")) return cursor_.string_or_skip(f_.reasoning);
    if (is_key(key, "tool_calls")) return slice_of('[', f_.tool_calls);
    if (is_key(key, "function_call")) return slice_of('{', f_.function_call);
    if (is_key(key, "refusal")) return cursor_.string_or_skip(f_.refusal);
    if (is_key(key, "reasoning_text")) return cursor_.string_or_skip(f_.reasoning_text);
    if (is_key(key, "reasoning_details")) return reasoning_details(key);
    return unread(key);
  }

  bool reasoning_details(const RawString& key) {
    f_.reasoning_details = {};
    return cursor_.peek() == '[' ? cursor_.slice(f_.reasoning_details) : unread(key);
  }

  // Words under a name outside the protocol may be the reply's: the run warns of them.
  bool unread(const RawString& key) {
    RawString words;
    if (!cursor_.string_or_skip(words)) return false;
    const bool silent = is_key(key, "role") || is_key(key, "name") || is_key(key, "id") ||
                        is_key(key, "type") || is_key(key, "tool_call_id") ||
                        is_key(key, "signature");
    if (!silent && !words.empty()) f_.unread = key;
    return true;
  }

  bool content() {
    f_.content = RawString{};
    f_.content_parts = {};
    const char c = cursor_.peek();
    if (c == '"') return cursor_.string(f_.content);
    return c == '[' ? cursor_.slice(f_.content_parts) : cursor_.skip();
  }

  // "stop", or SGLang's {"type": "stop", "matched": …}.
  bool finish_reason() {
    f_.finish = RawString{};
    f_.finish_message = RawString{};
    if (cursor_.peek() == '"') return cursor_.string(f_.finish);
    return object_or_skip([this](const RawString& key) {
      if (is_key(key, "type")) return cursor_.string_or_skip(f_.finish);
      if (is_key(key, "message")) return cursor_.string_or_skip(f_.finish_message);
      return cursor_.skip();
    });
  }

  bool usage() {
    f_.usage = Usage{};
    f_.has_usage = cursor_.peek() == '{';
    return object_or_skip([this](const RawString& key) {
      if (is_key(key, "prompt_tokens")) return cursor_.count_or_skip(f_.usage.prompt_tokens);
      if (is_key(key, "completion_tokens")) {
        return cursor_.count_or_skip(f_.usage.completion_tokens);
      }
      if (is_key(key, "reasoning_tokens")) {
        return cursor_.count_or_skip(f_.usage.reasoning_tokens);
      }
      if (is_key(key, "prompt_tokens_details") || is_key(key, "completion_tokens_details")) {
        return usage_details();
      }
      return cursor_.skip();
    });
  }

  bool usage_details() {
    return object_or_skip([this](const RawString& key) {
      if (is_key(key, "cached_tokens")) return cursor_.count_or_skip(f_.usage.cached_tokens);
      if (is_key(key, "reasoning_tokens")) {
        return cursor_.count_or_skip(f_.usage.reasoning_tokens);
      }
      return cursor_.skip();
    });
  }

  bool meta_info() {
    return object_or_skip([this](const RawString& key) {
      if (is_key(key, "finish_reason")) return finish_reason();
      if (is_key(key, "prompt_tokens")) return meta_count(f_.usage.prompt_tokens);
      if (is_key(key, "completion_tokens")) return meta_count(f_.usage.completion_tokens);
      if (is_key(key, "reasoning_tokens")) return meta_count(f_.usage.reasoning_tokens);
      if (is_key(key, "cached_tokens")) return meta_count(f_.usage.cached_tokens);
      return cursor_.skip();
    });
  }

  bool meta_count(std::int32_t& out) {
    if (!cursor_.count_or_skip(out)) return false;
    f_.has_usage = f_.has_usage || out != -1;
    return true;
  }

  bool error() {
    if (!cursor_.slice(f_.error)) return false;
    if (f_.error == "null" || f_.error == "false" || f_.error == "\"\"") f_.error = {};
    return true;
  }

  bool object_name() {
    RawString name;
    if (!cursor_.string_or_skip(name)) return false;
    f_.object_is_error = name.data != nullptr && name.view() == "error";
    return true;
  }

  JsonCursor cursor_;
  ReplyFields& f_;
};

}  // namespace

bool is_escaped_key(const RawString& key, std::string_view name) {
  std::array<char, 256> plain{};  // all known names are far shorter, with escapes too
  if (key.size > plain.size()) return false;
  const char* const end =
      unescape(key.data, key.data + key.size, plain.data(), RawControls::refused);
  return end != nullptr &&
         std::string_view(plain.data(), static_cast<std::size_t>(end - plain.data())) == name;
}

bool read_reply(std::string_view text, ReplyFields& out) { return ReplyReader(text, out).root(); }

void read_next_choice(std::string_view& more_choices, ReplyFields& out) {
  JsonCursor cursor(more_choices);
  std::string_view one;
  CHECK(cursor.slice(one));
  more_choices.remove_prefix(
      static_cast<std::size_t>(one.data() + one.size() - more_choices.data()));
  const std::size_t next = more_choices.find_first_not_of(", \t\r\n");
  more_choices.remove_prefix(std::min(next, more_choices.size()));
  CHECK(ReplyReader(one, out).only_choice());
}

}  // namespace assay::protocol
