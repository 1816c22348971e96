// A kind that a file describes: its request is the file's template, its reply's facts stand at the
// file's paths. Only the paths are read into; the rest of a message is skipped, and its grammar
// checked, as in the other kinds.
#include <algorithm>
#include <array>
#include <string>

#include "base/format.h"
#include "protocol/kind/kind.h"
#include "protocol/kind/request_parts.h"
#include "protocol/kind/typed_reader.h"

namespace assay::protocol {
namespace {

struct Asking {
  const Generation& generation;
  const Sample& sample;
  char filler;
};

template <typename T>
Json json_of(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

// The slots' values; null: not asked.
Json value_of(std::string_view name, const void* context) {
  const Asking& asking = *static_cast<const Asking*>(context);
  const Generation& generation = asking.generation;
  const Sample& sample = asking.sample;
  if (name == "prompt") return prompt_of(sample, asking.filler);
  if (name == "messages") return chat_messages(sample, asking.filler);
  if (name == "model") return generation.model.empty() ? Json() : Json(generation.model);
  if (name == "system") return sample.system.empty() ? Json() : Json(sample.system);
  if (name == "stream") return generation.stream;
  if (name == "temperature") return json_of(generation.temperature);
  if (name == "top_p") return json_of(generation.top_p);
  if (name == "seed") return json_of(generation.seed);
  if (name == "output_tokens_max") {
    const std::int64_t limit = output_tokens_max(generation, sample);
    return limit > 0 ? Json(limit) : Json();
  }
  return sample.body[name.substr(name.find('.') + 1)];
}

// The values at a reply's places: their text in the message.
class Places {
 public:
  explicit Places(const KindReply& reply) : reply_(reply) {}

  bool read(std::string_view text, std::size_t& raw_controls) {
    JsonCursor cursor(text);
    const char first = cursor.peek();
    if (first != '{' && first != '[') return false;
    const std::uint32_t all =
        static_cast<std::uint32_t>((std::uint64_t{1} << reply_.places.size()) - 1);
    const bool sound = inside(cursor, all, 0) && cursor.at_end();
    raw_controls = cursor.raw_controls();
    return sound;
  }

  std::string_view at(int place) const {
    return place < 0 ? std::string_view{} : found_[static_cast<std::size_t>(place)];
  }
  RawString string_at(int place) const {
    RawString out;
    const std::string_view value = at(place);
    if (value.starts_with('"')) {
      JsonCursor cursor(value);
      cursor.string(out);  // it was read before
    }
    return out;
  }
  bool count_at(int place, std::int32_t& out) const {
    const std::string_view value = at(place);
    if (value.empty()) return false;
    JsonCursor cursor(value);
    cursor.count_or_skip(out);
    return out != -1;
  }

  bool holds(const KindCondition& condition) const {
    if (condition.place < 0) return true;
    const std::string_view value = at(condition.place);
    if (condition.is.empty()) {
      return !value.empty() && value != "null" && value != "false" && value != "\"\"";
    }
    return std::ranges::any_of(condition.is, [&](const Json& one) {
      if (!one.is_string()) return value == one.dump();
      return value.starts_with('"') && is_key(string_at(condition.place), one.as_string());
    });
  }

  // Absent where the field's condition does not hold, or no place has a text.
  RawString text_of(const KindField& field, bool& there) const {
    RawString out;
    if (!field.known() || !holds(field.when)) return out;
    for (const std::uint8_t place : field.places) {
      out = string_at(place);
      there = there || out.data != nullptr;
      if (!out.empty()) break;
    }
    return out;
  }

 private:
  // Those of the places `open` whose step at `depth` is the key.
  template <typename IsKey>
  std::uint32_t steps_to(std::uint32_t open, std::size_t depth, IsKey&& is_step) const {
    std::uint32_t out = 0;
    for (std::size_t i = 0; i < reply_.places.size(); ++i) {
      // What is open at a depth has a step there.
      if ((open >> i & 1) != 0 && is_step(reply_.places[i][depth])) out |= 1u << i;
    }
    return out;
  }

  bool inside(JsonCursor& cursor, std::uint32_t open, std::size_t depth) {
    if (cursor.peek() == '{') {
      return cursor.object([&](const RawString& key) {
        return member(cursor, depth, steps_to(open, depth, [&](const std::string& step) {
                        return is_key(key, step);
                      }));
      });
    }
    std::size_t index = 0;
    return cursor.array([&] {
      const std::string number = std::to_string(index++);
      return member(cursor, depth,
                    steps_to(open, depth, [&](const std::string& step) { return step == number; }));
    });
  }

  bool member(JsonCursor& cursor, std::size_t depth, std::uint32_t places) {
    if (places == 0) return cursor.skip();
    std::string_view value;
    if (!cursor.slice(value)) return false;
    std::uint32_t deeper = 0;
    for (std::size_t i = 0; i < reply_.places.size(); ++i) {
      if ((places >> i & 1) == 0) continue;
      const bool here = reply_.places[i].size() == depth + 1;
      found_[i] = here ? value : std::string_view{};  // the last of repeated keys counts
      if (!here) deeper |= 1u << i;
    }
    if (deeper == 0 || (value.front() != '{' && value.front() != '[')) return true;
    JsonCursor again(value);
    return inside(again, deeper, depth + 1);
  }

  const KindReply& reply_;
  std::array<std::string_view, kKindPlacesMax> found_{};
};

std::uint32_t items_of(std::string_view array) {
  std::uint32_t out = 0;
  reread_items(array, [&](JsonCursor& cursor) {
    ++out;
    return cursor.skip();
  });
  return out;
}

void read_error(const Places& places, const KindField& error, ReplyFields& out) {
  if (!error.known() || !places.holds(error.when)) return;
  for (const std::uint8_t place : error.places) {
    const std::string_view value = places.at(place);
    if (value.empty() || value == "null" || value == "false" || value == "\"\"") continue;
    out.error = value;
    return;
  }
}

}  // namespace

Result<void> check_described(const DescribedKind& kind, const Sample& sample) {
  if (kind.takes_messages) return check_messages(sample);
  const bool structured = !sample.messages.is_null() || !sample.content_parts.is_null();
  if (structured) {
    return invalid(format("sample: messages: the request of {} has no {{messages}}", kind.name));
  }
  if (kind.takes_prompt && sample.prompt.empty()) {
    return invalid("sample: no prompt; map a column to 'prompt'");
  }
  if (kind.takes_prompt || sample.body.size() > 0) return {};
  return invalid(format("sample: has none of the columns that {} asks with", kind.name));
}

Json described_body(const DescribedKind& kind, const Generation& generation, const Sample& sample,
                    char filler) {
  const Asking asking{generation, sample, filler};
  return fill_template(kind.request, value_of, &asking);
}

Result<void> check_described_body(const DescribedKind& kind, const Generation& generation,
                                  const Json& body) {
  if (kind.stream == KindStream::none && generation.stream) {
    return invalid(format("{} does not stream; set streaming to off", kind.name));
  }
  if (kind.stream_field.empty()) return {};
  const bool streams = body[kind.stream_field].as_bool(false);
  if (streams == generation.stream) return {};
  return invalid(format("extra_body.{}: {} against streaming {}; set streaming instead",
                        kind.stream_field, streams, generation.stream ? "on" : "off"));
}

std::uint16_t units_of_described(const DescribedKind& kind, const Json& body) {
  if (kind.units_asked.empty()) return 1;
  const Json* value = &body;
  for (const std::string& step : kind.units_asked) value = &(*value)[step];
  const std::int64_t count =
      value->is_array() ? static_cast<std::int64_t>(value->size()) : value->as_int(1);
  return static_cast<std::uint16_t>(std::clamp<std::int64_t>(count, 1, 0xffff));
}

bool read_described(const DescribedKind& kind, bool whole, std::string_view text,
                    ReplyFields& out) {
  const KindReply& reply = whole ? kind.whole : kind.event;
  Places places(reply);
  if (!places.read(text, out.raw_controls)) return false;
  bool there = false;
  const RawString content = places.text_of(reply.text, there);
  out.reasoning = places.text_of(reply.reasoning, there);
  // What is sent so far goes where SGLang's does: the decoder takes what is new of it.
  const bool so_far = kind.text_so_far && !whole;
  if (so_far) {
    out.text = content;
  } else {
    out.content = content;
  }
  bool finish_there = false;
  out.finish = places.text_of(reply.finish, finish_there);
  out.ends = reply.end.place >= 0 && places.holds(reply.end);
  out.units = items_of(places.at(reply.units));
  const bool units_there = places.at(reply.units).starts_with('[');
  const bool any = there || units_there || out.ends || !out.finish.empty();
  out.has_choice = any && !(so_far && content.data != nullptr);
  Usage& usage = out.usage;
  for (const auto& [place, count] : {std::pair{reply.prompt_tokens, &usage.prompt_tokens},
                                     std::pair{reply.output_tokens, &usage.completion_tokens},
                                     std::pair{reply.cached_tokens, &usage.cached_tokens},
                                     std::pair{reply.reasoning_tokens, &usage.reasoning_tokens}}) {
    if (places.count_at(place, *count)) out.has_usage = true;
  }
  read_error(places, reply.error, out);
  return true;
}

}  // namespace assay::protocol
