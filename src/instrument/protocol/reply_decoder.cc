// The reply part of codec.h. decode() first tries the learned template (two memcmp, a scan and an
// unescape); an event that does not fit goes through the whole grammar (reply_fields.h), and
// becomes the next template if its one fragment is the body of one JSON string. A whole reply is
// tried against the shape of an earlier one in the same way (learned_reply.h).
#include <algorithm>
#include <cstring>

#include "base/base64.h"
#include "base/check.h"
#include "domain/tool_call.h"
#include "protocol/codec.h"
#include "protocol/kind/kind.h"
#include "protocol/learned_reply.h"
#include "protocol/learned_template.h"
#include "protocol/reply_fields.h"

namespace assay::protocol {
namespace {

// The buffer for the decoded strings of one call, one behind the other.
class Scratch {
 public:
  explicit Scratch(DecodeRoom& room) : at_(room.data()), end_(at_ + room.size()) {}

  // The string's text: the input itself where it has no escapes.
  std::string_view text(const RawString& raw) {
    if (!raw.escaped) return raw.view();
    const char* const begin = at_;
    append(raw);
    return since(begin);
  }
  const char* mark() const { return at_; }
  std::string_view since(const char* begin) const {
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  void append(const RawString& raw) {
    if (raw.data == nullptr) return;
    at_ = unescape(raw.data, raw.data + raw.size, at_, RawControls::replaced);
    CHECK(at_ != nullptr && at_ <= end_);  // the cursor has checked that it is valid
  }
  void append(std::string_view text) {
    if (text.empty()) return;
    CHECK(static_cast<std::size_t>(end_ - at_) >= text.size());
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
  }
  void append(char c) { append(std::string_view(&c, 1)); }
  void append(std::int32_t number) { append(std::to_string(number)); }

 private:
  char* at_;
  char* end_;
};

bool read_function(JsonCursor& cursor, CallFields& call) {
  if (cursor.peek() != '{') return cursor.skip();
  return cursor.object([&](const RawString& key) {
    if (is_key(key, "name")) return cursor.string_or_skip(call.name);
    if (is_key(key, "arguments") || is_key(key, "input")) {
      call.arguments = RawString{};
      call.arguments_value = {};
      const char c = cursor.peek();
      if (c == '"') return cursor.string(call.arguments);
      return c == '{' || c == '[' ? cursor.slice(call.arguments_value) : cursor.skip();
    }
    if (is_key(key, "index")) return cursor.count_or_skip(call.index);
    return cursor.skip();
  });
}

bool read_call(JsonCursor& cursor, CallFields& call) {
  if (cursor.peek() != '{') return cursor.skip();
  return cursor.object([&](const RawString& key) {
    if (is_key(key, "index")) return cursor.count_or_skip(call.index);
    if (is_key(key, "id")) return cursor.string_or_skip(call.id);
    if (is_key(key, "function") || is_key(key, "custom")) return read_function(cursor, call);
    return cursor.skip();
  });
}

// Interprets one event: from fields to facts.
class Interpreter {
 public:
  Interpreter(const ReplyFields& fields, StreamState& state, Scratch& scratch, DecodedEvent& out)
      : f_(fields), state_(state), scratch_(scratch), out_(out) {}

  void run() {
    if (f_.read_parts != nullptr) {
      for (const Category part : {Category::reasoning, Category::text, Category::tool_call}) {
        add_parts(part);
      }
    } else {
      add_reasoning();
      add_text();
      add_tool_calls();
      add_sglang();
    }
    add_first_of(Category::sound, {&f_.sound});
    out_.choice = static_cast<std::uint16_t>(std::clamp(f_.choice, 0, 0xffff));
    out_.more_choices = f_.more_choices;
    out_.has_choice = f_.has_choice || f_.text.data != nullptr || f_.output_ids.data() != nullptr;
    out_.has_usage = f_.has_usage;
    out_.usage = f_.usage;
    out_.finish = f_.reason;
    out_.ends = f_.ends;
    out_.units = f_.units;
    if (f_.finish.data != nullptr) out_.finish = finish_reason_from(scratch_.text(f_.finish));
    add_error();
    out_.category = category();
    if (out_.category == Category::unread) out_.unread = f_.unread.view();
  }

  // The string that is the event's last fragment, with its body; absent when it is not one string.
  const RawString& hole() const { return hole_; }
  bool no_room() const { return no_room_; }

 private:
  void add(Category category, std::string_view text, const RawString& raw) {
    if (text.empty()) return;
    hole_ = raw;
    out_.fragments[out_.fragment_count++] = {category, text};
  }

  void add_first_of(Category category, std::initializer_list<const RawString*> candidates) {
    for (const RawString* raw : candidates) {
      if (raw->empty()) continue;
      add(category, scratch_.text(*raw), *raw);
      return;
    }
  }

  void add_reasoning() {
    // Some servers send the same words under both names.
    if (!f_.reasoning_content.empty() || !f_.reasoning.empty() || !f_.reasoning_text.empty()) {
      add_first_of(Category::reasoning, {&f_.reasoning_content, &f_.reasoning, &f_.reasoning_text});
    } else if (!f_.reasoning_details.empty()) {
      const char* const begin = scratch_.mark();
      append_parts(f_.reasoning_details, "text");
      append_parts(f_.reasoning_details, "summary");
      add(Category::reasoning, scratch_.since(begin), RawString{});
    } else if (!f_.content_parts.empty()) {
      const char* const begin = scratch_.mark();
      append_parts(f_.content_parts, "thinking");
      add(Category::reasoning, scratch_.since(begin), RawString{});
    }
  }

  void add_text() {
    if (!f_.payload.empty()) {
      const char* const begin = scratch_.mark();
      scratch_.append(encode_base64(f_.payload));
      add(Category::text, scratch_.since(begin), RawString{});
    } else if (!f_.content_parts.empty()) {
      const char* const begin = scratch_.mark();
      append_parts(f_.content_parts, "text");
      add(Category::text, scratch_.since(begin), RawString{});
    } else {
      add_first_of(Category::text, {&f_.content, &f_.choice_text, &f_.refusal});
    }
  }

  // Content as an array of parts: each part's member `name`, a string or an array of text parts.
  void append_parts(std::string_view parts, std::string_view name) {
    JsonCursor cursor(parts);
    const bool sound = cursor.array([&] {
      if (cursor.peek() != '{') return cursor.skip();
      return cursor.object([&](const RawString& key) {
        if (!is_key(key, name)) return cursor.skip();
        if (cursor.peek() == '[') {
          std::string_view inner;
          const bool sliced = cursor.slice(inner);
          if (name != "text") append_parts(inner, "text");
          return sliced;
        }
        RawString words;
        const bool taken = cursor.string_or_skip(words);
        scratch_.append(words);
        return taken;
      });
    });
    CHECK(sound);  // the reply was read whole before
  }

  // The parts of a whole reply, one category at a time.
  void add_parts(Category wanted) {
    struct Joined final : PartSink {
      explicit Joined(Interpreter& to) : into(to) {}
      void text(const RawString& text) override { into.scratch_.append(text); }
      void call(const CallFields& call) override { into.append_call(call); }
      Interpreter& into;
    };
    Joined joined(*this);
    const char* const begin = scratch_.mark();
    f_.read_parts(f_.items, wanted, joined);
    add(wanted, scratch_.since(begin), RawString{});
  }

  void add_tool_calls() {
    if (f_.has_call) {
      const char* const begin = scratch_.mark();
      const bool goes_on = append_call(f_.call);
      return add(Category::tool_call, scratch_.since(begin),
                 goes_on ? f_.call.arguments : RawString{});
    }
    if (f_.tool_calls.empty() && f_.function_call.empty()) return;
    const char* const begin = scratch_.mark();
    RawString only{};  // the arguments, if the delta has nothing else
    if (!f_.tool_calls.empty()) {
      std::int32_t position = 0;
      JsonCursor cursor(f_.tool_calls);
      const bool sound = cursor.array([&] {
        CallFields call;
        const bool whole = read_call(cursor, call);
        if (call.index < 0) call.index = position;
        const bool goes_on = append_call(call);
        only = position == 0 && goes_on ? call.arguments : RawString{};
        ++position;
        return whole;
      });
      CHECK(sound);
    } else {
      CallFields call;
      JsonCursor cursor(f_.function_call);
      CHECK(read_function(cursor, call));
      call.index = 0;
      append_call(call);
    }
    add(Category::tool_call, scratch_.since(begin), only);
  }

  // As in domain/tool_call.h. True when only arguments of the previous call were written.
  bool append_call(const CallFields& call) {
    const bool has_arguments = !call.arguments.empty() || !call.arguments_value.empty();
    const bool begins = !call.id.empty() || !call.name.empty() ||
                        (has_arguments && call.index != state_.tool_index);
    if (begins) {
      state_.tool_index = call.index;
      scratch_.append(kToolCallBegins);
      scratch_.append(call.index);
      scratch_.append(kToolCallField);
      scratch_.append(call.id);
      scratch_.append(kToolCallField);
      scratch_.append(call.name);
      scratch_.append(kToolCallField);
    }
    scratch_.append(call.arguments);
    scratch_.append(call.arguments_value);
    return !begins;
  }

  void add_sglang() {
    if (f_.has_choice) return;
    if (f_.text.data != nullptr) {
      add(Category::text, news(scratch_.text(f_.text)), RawString{});
    } else if (!f_.output_ids.empty()) {
      // No text at all (--skip-tokenizer-init): the token ids replace it, with commas between.
      const std::string_view ids = f_.output_ids.substr(1, f_.output_ids.size() - 2);
      const char* const begin = scratch_.mark();
      const std::string_view fresh = news(ids);
      if (state_.deltas && !fresh.empty()) scratch_.append(',');
      scratch_.append(fresh);
      add(Category::text, scratch_.since(begin), RawString{});
    }
  }

  // SGLang sends the whole text each time, unless it was started to send pieces. A text that does
  // not continue the one seen so far shows which; a text trimmed at its end adds nothing.
  std::string_view news(std::string_view now) {
    if (state_.deltas) return now;
    BudgetedText& text = state_.cumulative;
    const std::string_view seen = text.view();
    const std::size_t common = common_bytes(seen, now);
    if (common == now.size()) return {};
    if (common * 2 < seen.size()) {
      state_.deltas = true;
      return now;
    }
    text.cut(common);
    no_room_ = !text.append(now.substr(common));
    return now.substr(common);
  }

  static std::size_t common_bytes(std::string_view seen, std::string_view now) {
    if (now.starts_with(seen)) return seen.size();
    const auto at = std::mismatch(seen.begin(), seen.end(), now.begin(), now.end()).first;
    return static_cast<std::size_t>(at - seen.begin());
  }

  void add_error() {
    const std::string_view finish = f_.finish.data == nullptr ? "" : f_.finish.view();
    if (!f_.error.empty()) {
      out_.error = error_words();
      is_error_ = true;
    } else if (f_.object_is_error) {
      out_.error = scratch_.text(f_.message);
      if (out_.error.empty()) out_.error = "an object named error, without a message";
      is_error_ = true;
    } else if (finish == "abort" || finish == "error") {
      const char* const begin = scratch_.mark();
      scratch_.append("the server ended the reply with finish_reason ");
      scratch_.append(finish);
      if (!f_.finish_message.empty()) scratch_.append(": ");
      scratch_.append(f_.finish_message);
      out_.error = scratch_.since(begin);
      is_error_ = true;
    }
  }

  // {"error": {"message": "words", …}}, {"error": "words"}; else the value itself.
  std::string_view error_words() {
    JsonCursor cursor(f_.error);
    RawString words;
    if (f_.error.front() == '"') {
      CHECK(cursor.string(words));
    } else if (f_.error.front() == '{') {
      CHECK(cursor.object([&](const RawString& key) {
        return is_key(key, "message") ? cursor.string_or_skip(words) : cursor.skip();
      }));
    }
    return words.empty() ? f_.error : scratch_.text(words);
  }

  Category category() const {
    if (is_error_) return Category::error;
    if (out_.fragment_count > 0) return out_.fragments[0].category;
    if (out_.finish != FinishReason::none) return Category::finish;
    if (out_.ends && !out_.has_usage) return Category::marker;
    if (out_.has_usage && !out_.has_choice) return Category::usage;
    if (!f_.unread.empty()) return Category::unread;
    return out_.has_choice ? Category::role : Category::other;
  }

  const ReplyFields& f_;
  StreamState& state_;
  Scratch& scratch_;
  DecodedEvent& out_;
  RawString hole_{};
  bool is_error_ = false;
  bool no_room_ = false;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Not even an empty call, whose id would count if it had one.
bool calls_nothing(const ReplyFields& fields) {
  constexpr std::size_t kEmptyBytes = 2;  // "[]"
  return fields.tool_calls.size() <= kEmptyBytes;
}

void refuse(DecodedEvent& out) {
  out = DecodedEvent{};
  out.malformed = out.no_room = true;
}

// What a text teaches: nothing, its stream's template, or the shape of whole replies.
struct Lesson {
  bool of_stream = false;
  LearnedReply* of_replies = nullptr;
};

void decode_all(std::string_view data, bool whole, StreamState& state, DecodeRoom& room,
                DecodedEvent& out, Lesson lesson) {
  out = DecodedEvent{};
  const Kind& kind = kind_of(state.api);
  if (!data.starts_with('{') && trimmed(data) == "[DONE]") {
    out.category = kind.ends_itself ? Category::other : Category::marker;
    return;
  }
  ReplyFields fields;
  const bool sound = __builtin_expect(state.api.described != nullptr, 0)
                         ? read_described(*state.api.described, whole, data, fields)
                         : (whole ? kind.read_reply : kind.read_event)(data, fields);
  if (!sound) {
    out.malformed = true;
    return;
  }
  // Every piece of the input is stored at most once, never longer than it was, except for raw
  // control bytes, a payload in base64, the few bytes that mark a tool call and the words in front
  // of an abort.
  const std::size_t need = 2 * (data.size() + fields.raw_controls) + 256;
  if (!room.fit(need)) return refuse(out);
  Scratch scratch(room);
  Interpreter interpreter(fields, state, scratch, out);
  interpreter.run();
  if (interpreter.no_room()) return refuse(out);
  if (out.fragment_count == 0) return;
  bool one_hole = out.fragment_count == 1 && interpreter.hole().data != nullptr &&
                  out.more_choices.empty() && out.category != Category::error;
  if (lesson.of_replies != nullptr && one_hole && kind.read_reply == read_reply &&
      calls_nothing(fields)) {
    lesson.of_replies->learn(state.api, data, interpreter.hole(), out);
  }
  if (!lesson.of_stream) return;
  one_hole = one_hole && out.finish == FinishReason::none && !out.has_usage && !out.ends;
  // A tool call that began or changed invalidates an older template of another call.
  if (one_hole) {
    learn(data, interpreter.hole(), out.category, out.choice, kind.varying, state);
  } else {
    state.prefix_bytes = 0;
  }
}

// False where the string body is not valid.
bool undo_escapes(std::string_view& text, DecodeRoom& room) {
  const char* const end = text.data() + text.size();
  if (find_special(text.data(), end) == end) return true;
  if (!room.fit(text.size())) return false;
  const char* const last = unescape(text.data(), end, room.data(), RawControls::refused);
  if (last == nullptr) return false;
  text = {room.data(), static_cast<std::size_t>(last - room.data())};
  return true;
}

// Tries the learned template. True when the event is the previous one with another fragment: the
// bytes around it are equal, so a parser would reach its opening quote in the same state, and would
// continue in the same way after its closing quote.
bool decode_by_template(std::string_view data, StreamState& state, DecodeRoom& room,
                        DecodedEvent& out) {
  const std::size_t prefix = state.prefix_bytes;
  if (prefix == 0) return false;
  const std::string& both = state.prefix_and_suffix;
  if (data.size() <= both.size()) return false;
  std::string_view text;
  if (state.varying_count == 0) {
    const std::size_t suffix = both.size() - prefix;
    const char* const begin = data.data() + prefix;
    const char* const end = data.data() + data.size() - suffix;
    if (std::memcmp(end, both.data() + prefix, suffix) != 0) return false;
    if (std::memcmp(data.data(), both.data(), prefix) != 0) return false;
    text = {begin, static_cast<std::size_t>(end - begin)};
  } else {
    text = find_fragment(data, state);
    if (text.empty()) return false;
  }
  if (!undo_escapes(text, room)) return false;
  ++state.template_hits;
  out.category = state.category;
  out.fragment_count = 1;
  out.malformed = false;
  out.has_choice = true;
  out.has_usage = false;
  out.ends = false;
  out.finish = FinishReason::none;
  out.choice = state.choice;
  out.more_choices = {};
  out.fragments[0] = {state.category, text};
  out.usage = Usage{};
  out.error = {};
  return true;
}

}  // namespace

namespace {

constexpr std::size_t kRoomBytes = std::size_t{16} << 10;
constexpr std::size_t kRoomKeptBytes = std::size_t{1} << 20;

}  // namespace

// The first buffer always exists.
DecodeRoom::DecodeRoom(MemoryBudget* budget) : budget_(budget), bytes_(kRoomBytes, '\0') {}

DecodeRoom::~DecodeRoom() {
  if (budget_ != nullptr) budget_->give_back(taken_);
}

bool DecodeRoom::replace(std::size_t bytes) {
  std::string().swap(bytes_);
  if (budget_ != nullptr) budget_->give_back(taken_);
  taken_ = 0;
  const bool allowed = bytes <= kRoomBytes || budget_ == nullptr || budget_->take(bytes);
  if (allowed && bytes > kRoomBytes) taken_ = bytes;
  bytes_.assign(allowed ? std::max(bytes, kRoomBytes) : kRoomBytes, '\0');
  return allowed;
}

bool DecodeRoom::fit(std::size_t bytes) {
  if (bytes > bytes_.size()) return replace(bytes);
  if (bytes_.size() > kRoomKeptBytes && bytes < bytes_.size() / 4) return replace(bytes);
  return true;
}

ReplyDecoder::ReplyDecoder(MemoryBudget* budget)
    : room_(budget), learned_(std::make_unique<LearnedReply>()) {}

ReplyDecoder::~ReplyDecoder() = default;

void ReplyDecoder::decode(std::string_view data, StreamState& state, DecodedEvent& out) {
  if (decode_by_template(data, state, room_, out)) return;
  decode_all(data, false, state, room_, out, {.of_stream = true});
}

void ReplyDecoder::decode_slowly(std::string_view data, StreamState& state, DecodedEvent& out) {
  decode_all(data, false, state, room_, out, {});
}

void ReplyDecoder::next_choice(StreamState* state, DecodedEvent& event) {
  std::string_view more = event.more_choices;
  const int before = event.choice;
  ReplyFields fields;
  read_next_choice(more, fields);
  if (fields.choice < 0) fields.choice = before + 1;
  fields.more_choices = more;
  event = DecodedEvent{};
  Scratch scratch(room_);
  Interpreter(fields, state != nullptr ? *state : whole_, scratch, event).run();
}

void ReplyDecoder::decode_reply(Spoken api, std::string_view body, DecodedEvent& out) {
  std::string_view text;
  if (learned_->read(api, body, out, text) && undo_escapes(text, room_)) {
    out.fragments[0].text = text;
  } else {
    whole_.reset();
    whole_.api = api;
    decode_all(body, true, whole_, room_, out, {.of_replies = learned_.get()});
  }
  out.ends = false;
}

}  // namespace assay::protocol
