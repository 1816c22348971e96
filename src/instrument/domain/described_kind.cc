#include "domain/described_kind.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/format.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kWordBytesMax = 64;
constexpr std::array<std::string_view, 10> kRootKeys{"kind",    "version",    "route",  "request",
                                                     "headers", "key_header", "stream", "reply",
                                                     "whole",   "unit"};
constexpr std::array<std::string_view, 8> kReplyKeys{"text", "reasoning", "error", "finish",
                                                     "end",  "usage",     "units", "text_so_far"};
constexpr std::array<std::string_view, 4> kUsageKeys{"prompt_tokens", "output_tokens",
                                                     "cached_tokens", "reasoning_tokens"};
constexpr std::array<std::string_view, 9> kSlots{
    "model",       "prompt", "system", "messages", "output_tokens_max",
    "temperature", "top_p",  "seed",   "stream"};
constexpr std::string_view kColumn = "column.";

Error wrong(std::string_view where, std::string_view what) {
  return Error{Code::invalid, format("{}: {}", where, what)};
}

// Refuses a member that is none of `known`.
Result<void> check_keys(const Json& map, std::string_view where,
                        std::span<const std::string_view> known) {
  for (const auto& [key, value] : map.members()) {
    if (std::ranges::find(known, std::string_view(key)) != known.end()) continue;
    const std::string_view near = nearest(key, known);
    std::string names;
    for (const std::string_view name : known)
      names += format("{}{}", names.empty() ? "" : ", ", name);
    return wrong(where.empty() ? std::string(key) : format("{}.{}", where, key),
                 near.empty() ? format("is not a key here; one of: {}", names)
                              : format("is not a key here; did you mean {}?", near));
  }
  return {};
}

Result<std::vector<std::string>> path_of(const Json& value, std::string_view where) {
  if (!value.is_string() || value.as_string().empty()) {
    return wrong(where, "must be a path, such as choices.0.text");
  }
  std::vector<std::string> out;
  for (const std::string_view step : split(value.as_string(), '.')) {
    if (step.empty()) return wrong(where, format("\"{}\" has an empty step", value.as_string()));
    if (step.size() > kWordBytesMax) {
      return wrong(where, format("a step is longer than {} bytes", kWordBytesMax));
    }
    out.emplace_back(step);
  }
  if (out.size() > kDepthMax) return wrong(where, format("has more than {} steps", kDepthMax));
  return out;
}

// Reads one of the parts `reply` and `whole`.
class ReplyPart {
 public:
  ReplyPart(const Json& map, std::string_view where) : map_(map), where_(where) {}

  Result<KindReply> read() {
    if (!map_.is_object()) return wrong(where_, "must be a map: text, end, usage, …");
    TRY(check_keys(map_, where_, kReplyKeys));
    TRY(field("text", out_.text));
    TRY(field("reasoning", out_.reasoning));
    TRY(field("error", out_.error));
    TRY(field("finish", out_.finish));
    if (const Json* const end = map_.find("end"); end != nullptr) {
      TRY(condition(*end, at("end"), out_.end));
    }
    const Json& usage = map_["usage"];
    if (!usage.is_null() && !usage.is_object()) return wrong(at("usage"), "must be a map of paths");
    TRY(check_keys(usage, at("usage"), kUsageKeys));
    int* const counts[] = {&out_.prompt_tokens, &out_.output_tokens, &out_.cached_tokens,
                           &out_.reasoning_tokens};
    for (std::size_t i = 0; i < kUsageKeys.size(); ++i) {
      TRY(single(usage, "usage", kUsageKeys[i], *counts[i]));
    }
    TRY(single(map_, "", "units", out_.units));
    return std::move(out_);
  }

 private:
  std::string at(std::string_view key) const { return format("{}.{}", where_, key); }

  Result<int> place(const Json& value, const std::string& where) {
    ASSIGN_OR_RETURN(std::vector<std::string> path, path_of(value, where));
    const auto same = std::ranges::find(out_.places, path);
    if (same != out_.places.end()) return static_cast<int>(same - out_.places.begin());
    if (out_.places.size() == kKindPlacesMax) {
      return wrong(where_, format("has more than {} different paths", kKindPlacesMax));
    }
    out_.places.push_back(std::move(path));
    return static_cast<int>(out_.places.size()) - 1;
  }

  Result<void> single(const Json& map, std::string_view part, std::string_view key, int& to) {
    const Json* const value = map.find(key);
    if (value == nullptr) return {};
    ASSIGN_OR_RETURN(
        to, place(*value, at(part.empty() ? std::string(key) : format("{}.{}", part, key))));
    return {};
  }

  Result<void> condition(const Json& value, const std::string& where, KindCondition& to) {
    if (!value.is_object()) {
      ASSIGN_OR_RETURN(to.place, place(value, where));
      return {};
    }
    constexpr std::array<std::string_view, 2> kKeys{"path", "is"};
    TRY(check_keys(value, where, kKeys));
    ASSIGN_OR_RETURN(to.place, place(value["path"], where + ".path"));
    const Json& is = value["is"];
    if (is.is_null()) return {};
    to.is = is.is_array() ? is.items() : Json::Array{is};
    for (const Json& one : to.is) {
      const bool scalar = one.is_string() || one.is_number() || one.is_bool();
      if (!scalar || one.as_string().size() > kWordBytesMax) {
        return wrong(where + ".is", "must be a word, a number, true or false, or a list of them");
      }
    }
    return {};
  }

  Result<void> paths(const Json& value, const std::string& where, KindField& to) {
    if (value.is_array() && value.size() == 0) return wrong(where, "is empty");
    for (const Json& one : value.is_array() ? value.items() : Json::Array{value}) {
      ASSIGN_OR_RETURN(const int number, place(one, where));
      to.places.push_back(static_cast<std::uint8_t>(number));
    }
    return {};
  }

  Result<void> field(std::string_view key, KindField& to) {
    const Json* const value = map_.find(key);
    if (value == nullptr) return {};
    if (!value->is_object()) return paths(*value, at(key), to);
    constexpr std::array<std::string_view, 2> kKeys{"path", "when"};
    TRY(check_keys(*value, at(key), kKeys));
    TRY(paths((*value)["path"], at(key) + ".path", to));
    if (const Json* const when = value->find("when"); when != nullptr) {
      TRY(condition(*when, at(key) + ".when", to.when));
    }
    return {};
  }

  const Json& map_;
  std::string where_;
  KindReply out_{};
};

// Looks at every string of the template.
Result<void> read_template(const Json& value, const std::string& where, std::size_t depth,
                           DescribedKind& out) {
  if (depth > kDepthMax) return wrong(where, format("is deeper than {} levels", kDepthMax));
  if (value.is_string()) {
    auto parts = template_parts(value.as_string());
    if (!parts) return wrong(where, parts.error().message);
    for (const TemplatePart& part : *parts) {
      if (!part.slot) continue;
      if (part.text == "messages") out.takes_messages = true;
      if (part.text == "prompt" || part.text == "messages") out.takes_prompt = true;
      if (part.text == "output_tokens_max") out.limits_tokens = true;
      if (part.text == "messages" && parts->size() > 1) {
        return wrong(where, "{messages} is a list and must stand alone");
      }
      if (part.text.starts_with(kColumn)) out.columns.push_back(part.text.substr(kColumn.size()));
    }
  }
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    TRY(read_template(value[i], format("{}.{}", where, i), depth + 1, out));
  }
  for (const auto& [key, inner] : value.members()) {
    TRY(read_template(inner, format("{}.{}", where, key), depth + 1, out));
    if (depth == 0 && inner.as_string() == "{stream}") out.stream_field = key;
  }
  return {};
}

Result<void> read_headers(const Json& map, DescribedKind& out) {
  if (map.is_null()) return {};
  if (!map.is_object()) return wrong("headers", "must be a map of names and values");
  for (const auto& [name, value] : map.members()) {
    if (!value.is_string()) return wrong(format("headers.{}", name), "must be text, in quotes");
    out.headers.emplace_back(name, value.as_string());
  }
  return {};
}

Result<void> read_unit(const Json& unit, DescribedKind& out) {
  if (unit.is_null()) return {};
  constexpr std::array<std::string_view, 2> kKeys{"name", "asked"};
  if (!unit.is_object()) return wrong("unit", "must be a map: {name: caption, asked: inputs}");
  TRY(check_keys(unit, "unit", kKeys));
  out.unit = unit["name"].as_string();
  const bool word = !out.unit.empty() && out.unit.size() <= kWordBytesMax &&
                    std::ranges::all_of(out.unit, [](char c) { return c >= 'a' && c <= 'z'; });
  if (!word) return wrong("unit.name", "must be a word of small letters, in the singular");
  if (!unit["asked"].is_null()) {
    ASSIGN_OR_RETURN(out.units_asked, path_of(unit["asked"], "unit.asked"));
  }
  if (out.stream != KindStream::none) {
    return wrong("unit", "is for replies without tokens, which do not stream: stream: none");
  }
  return {};
}

Result<KindStream> stream_of(const Json& value) {
  const std::string_view word = value.as_string("sse");
  if (word == "sse") return KindStream::sse;
  if (word == "lines") return KindStream::lines;
  if (word == "none") return KindStream::none;
  return wrong("stream", "must be sse, lines or none");
}

Result<void> check_name(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= kWordBytesMax && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!plain) return wrong("kind", "must be a name of small letters, digits and _");
  if (api_from(name))
    return wrong("kind", format("{} is a kind that Assay speaks; another name", name));
  return {};
}

// The replies that a run can tell from a failure have a text or units.
Result<void> check_reply(const DescribedKind& kind) {
  if (kind.unit.empty() && !kind.event.text.known()) {
    return wrong("reply.text", "is required: the path of the text in an event");
  }
  if (!kind.unit.empty() && kind.whole.units < 0 && !kind.whole.text.known()) {
    return wrong("reply.units",
                 "is required where a reply has a unit: the path of an array with "
                 "an item for each, or text for one");
  }
  if (kind.stream == KindStream::lines && kind.event.end.place < 0 && !kind.event.finish.known()) {
    return wrong("reply.end", "is required: how the last line is known");
  }
  return {};
}

Json filled_string(std::string_view text, ValueOf value_of, const void* context) {
  const auto parts = template_parts(text);
  if (!parts) return Json(text);  // refused when it was parsed
  if (parts->size() == 1 && parts->front().slot) {
    return value_of(parts->front().text, context);
  }
  std::string out;
  for (const TemplatePart& part : *parts) {
    if (!part.slot) {
      out += part.text;
      continue;
    }
    const Json value = value_of(part.text, context);
    out += value.is_string() ? std::string(value.as_string()) : value.is_null() ? "" : value.dump();
  }
  return out;
}

}  // namespace

Result<std::vector<TemplatePart>> template_parts(std::string_view text) {
  std::vector<TemplatePart> out;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool twice = i + 1 < text.size() && text[i + 1] == c;
    if ((c == '{' || c == '}') && twice) {
      plain += c;
      ++i;
      continue;
    }
    if (c == '}') return invalid("a } without a { before it; write }} for the character itself");
    if (c != '{') {
      plain += c;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string_view::npos)
      return invalid("a { without a } after it; write {{ for the character itself");
    const std::string_view name = text.substr(i + 1, end - i - 1);
    const bool column = name.starts_with(kColumn) && name.size() > kColumn.size();
    if (!column && std::ranges::find(kSlots, name) == kSlots.end()) {
      std::string names;
      for (const std::string_view one : kSlots) names += format("{{{}}}, ", one);
      return invalid(format("{{{}}} is not a slot; one of: {}{{column.NAME}}", name, names));
    }
    if (!plain.empty()) out.push_back({false, std::move(plain)});
    plain.clear();
    out.push_back({true, std::string(name)});
    i = end;
  }
  if (!plain.empty() || out.empty()) out.push_back({false, std::move(plain)});
  return out;
}

Json fill_template(const Json& request, ValueOf value_of, const void* context) {
  if (request.is_string()) return filled_string(request.as_string(), value_of, context);
  const auto left_out = [](const Json& before, const Json& now) {
    return now.is_null() && !before.is_null();
  };
  if (request.is_array()) {
    Json out = Json::array();
    for (const Json& item : request.items()) {
      Json now = fill_template(item, value_of, context);
      if (!left_out(item, now)) out.push_back(std::move(now));
    }
    return out;
  }
  if (!request.is_object()) return request;
  Json out = Json::object();
  for (const auto& [key, item] : request.members()) {
    Json now = fill_template(item, value_of, context);
    if (!left_out(item, now)) out.set(key, std::move(now));
  }
  return out;
}

Result<DescribedKind> parse_described_kind(const Json& source) {
  if (!source.is_object()) return invalid("must be a map: kind, route, request, reply, …");
  TRY(check_keys(source, "", kRootKeys));
  DescribedKind out{.source = source};
  if (const Json& version = source["version"]; !version.is_null() && version.as_int(-1) != 1) {
    return wrong("version", "must be 1");
  }
  out.name = source["kind"].as_string();
  TRY(check_name(out.name));
  out.route = source["route"].as_string();
  const bool path = out.route.starts_with('/') &&
                    std::ranges::all_of(out.route, [](char c) { return c > ' ' && c < 127; });
  if (!path || out.route.find_first_of("?#") != std::string::npos) {
    return wrong("route", "must be the path of a POST, such as /v1/generate, without a query");
  }
  ASSIGN_OR_RETURN(out.stream, stream_of(source["stream"]));
  out.request = source["request"];
  if (!out.request.is_object()) return wrong("request", "must be a map: the body's template");
  TRY(read_template(out.request, "request", 0, out));
  if (!out.takes_prompt && out.columns.empty()) {
    return wrong("request", "asks nothing: it has no {prompt}, {messages} or {column.NAME}");
  }
  TRY(read_headers(source["headers"], out));
  out.key_header = source["key_header"].as_string();
  TRY(read_unit(source["unit"], out));
  ASSIGN_OR_RETURN(out.event, ReplyPart(source["reply"], "reply").read());
  out.text_so_far = source["reply"]["text_so_far"].as_bool(false);
  if (source.find("whole") == nullptr) {
    out.whole = out.event;
  } else {
    ASSIGN_OR_RETURN(out.whole, ReplyPart(source["whole"], "whole").read());
  }
  TRY(check_reply(out));
  return out;
}

}  // namespace assay
