#include <array>

#include "base/format.h"
#include "base/json_list.h"
#include "base/text.h"
#include "dataset/calendar.h"
#include "dataset/length.h"
#include "dataset/otel_spans.h"

namespace assay::dataset {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::optional<std::int64_t> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  std::int64_t out = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

// "2026-11-01T09:00:00.25Z", also with a blank for the T, or an offset; without a zone it is UTC.
std::optional<std::int64_t> iso_ns(std::string_view text) {
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> kParts{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  std::array<std::int64_t, 6> part{};
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const auto number = digits(text, kParts[i].first, kParts[i].second);
    if (!number) return std::nullopt;
    part[i] = *number;
  }
  if (text[4] != '-' || text[7] != '-' || (text[10] != 'T' && text[10] != ' ') || text[13] != ':' ||
      text[16] != ':' || part[0] < 1970 || part[0] > 2200 || part[1] < 1 || part[1] > 12 ||
      part[2] < 1 || part[2] > 31 || part[3] > 23 || part[4] > 59 || part[5] > 60) {
    return std::nullopt;
  }
  std::int64_t ns = 0;
  std::size_t at = 19;
  if (at < text.size() && text[at] == '.') {
    std::int64_t unit = kSecond / 10;
    for (++at; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, unit /= 10) {
      ns += (text[at] - '0') * unit;
    }
  }
  std::int64_t offset = 0;
  const std::string_view zone = text.substr(at);
  if (!zone.empty() && zone != "Z" && zone != "z") {
    const auto hours = digits(zone, 1, 2);
    const auto minutes = digits(zone, zone.size() == 6 ? 4 : 3, 2);
    if ((zone[0] != '+' && zone[0] != '-') || !hours || !minutes || *hours > 23 || *minutes > 59) {
      return std::nullopt;
    }
    offset = (*hours * 60 + *minutes) * (zone[0] == '-' ? -60 : 60);
  }
  const std::int64_t seconds =
      ((days_since_1970(part[0], part[1], part[2]) * 24 + part[3]) * 60 + part[4]) * 60 + part[5];
  return (seconds - offset) * kSecond + ns;
}

// The first of the names that the object has.
const Json& either(const Json& object, std::string_view a, std::string_view b) {
  return object[a].is_null() ? object[b] : object[a];
}

Result<std::int64_t> instant(const Json& span, std::string_view iso, std::string_view nano) {
  const Json& value = either(span, iso, nano);
  if (value.is_integer() && value.as_int() >= 0) return value.as_int();
  const std::string_view text = value.as_string();
  if (const auto number = parse_int(text); number && *number >= 0) return *number;
  if (const auto ns = iso_ns(text)) return *ns;
  return invalid(
      format("{}: expected an instant such as 2026-11-01T09:00:00.25Z, or nanoseconds, "
             "found {}",
             span[iso].is_null() ? nano : iso, value.dump()));
}

// OTLP's {stringValue: …}, {intValue: "5"}, {arrayValue: {values: […]}} as plain values.
Json plain(const Json& value) {
  if (!value["stringValue"].is_null()) return value["stringValue"];
  if (!value["boolValue"].is_null()) return value["boolValue"];
  if (!value["doubleValue"].is_null()) return value["doubleValue"];
  const Json& whole = value["intValue"];
  if (const auto number = parse_int(whole.as_string())) return *number;
  if (!whole.is_null()) return whole;
  return json_list(value["arrayValue"]["values"].items(), plain);
}

Json attributes_of(const Json& span) {
  const Json& from = span["attributes"];
  if (!from.is_array()) return from;
  Json out = Json::object();
  for (const Json& one : from.items()) out.set(one["key"].as_string(), plain(one["value"]));
  return out;
}

// A value that may be JSON in a text.
Json unpacked(const Json& value) {
  if (!value.is_string()) return value;
  auto parsed = Json::parse(value.as_string());
  return parsed ? *std::move(parsed) : Json();
}

std::string text_of_parts(const Json& parts) {
  if (parts.is_string()) return std::string(parts.as_string());
  std::string out;
  for (const Json& part : parts.items()) {
    if (part["type"].as_string("text") != "text") continue;
    if (!out.empty()) out += '\n';
    out += either(part, "content", "text").as_string();
  }
  return out;
}

std::string as_text(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

// One recorded message as OpenAI's, or several: each tool's response is a message of its own.
void append_message(const Json& from, Messages& to) {
  const std::string_view role = from["role"].as_string("user");
  const Json& parts = either(from, "parts", "content");
  Json calls = Json::array();
  bool responses = false;
  for (const Json& part : parts.items()) {
    if (part["type"].as_string() == "tool_call") {
      const Json arguments = either(part, "arguments", "args");
      Json function = Json().set("name", part["name"]).set("arguments", as_text(arguments));
      calls.push_back(
          Json().set("id", part["id"]).set("type", "function").set("function", function));
    } else if (part["type"].as_string() == "tool_call_response") {
      responses = true;
      to.push_back(Json()
                       .set("role", "tool")
                       .set("tool_call_id", part["id"])
                       .set("content", as_text(either(part, "response", "result"))));
    }
  }
  const std::string said = text_of_parts(parts);
  if (responses && said.empty()) return;
  Json message = Json().set("role", role);
  if (calls.size() > 0) {
    message.set("content", said.empty() ? Json() : Json(said)).set("tool_calls", std::move(calls));
  } else {
    message.set("content", said);
  }
  to.push_back(std::move(message));
}

Messages messages_of(const Json& attributes) {
  const Json input = unpacked(attributes["gen_ai.input.messages"]);
  Messages out;
  if (!input.is_array() || input.size() == 0) return out;
  const Json instructions = unpacked(attributes["gen_ai.system_instructions"]);
  const std::string system = instructions.is_null()
                                 ? std::string(attributes["gen_ai.system_instructions"].as_string())
                                 : text_of_parts(instructions);
  if (!system.empty()) out.push_back(Json().set("role", "system").set("content", system));
  for (const Json& message : input.items()) {
    if (message.is_object()) append_message(message, out);
  }
  return out;
}

Result<std::int64_t> tokens_of(const Json& attributes, std::string_view name,
                               std::string_view old) {
  const Json& value = either(attributes, name, old);
  if (value.is_null()) return -1;
  std::int64_t number = value.is_integer() ? value.as_int(-1) : -1;
  if (const auto digits_of = parse_int(value.as_string())) number = *digits_of;
  if (number >= 0 && number <= kLengthMax) return number;
  return invalid(format("{}: expected 0 to {} tokens, found {}", name, kLengthMax, value.dump()));
}

SpanKind kind_of(std::string_view operation, bool has_usage) {
  constexpr std::array<std::string_view, 4> kQueries{"chat", "generate", "text_completion",
                                                     "generate_content"};
  for (const std::string_view one : kQueries) {
    if (operation == one) return SpanKind::query;
  }
  if (operation == "invoke_agent" || operation == "create_agent") return SpanKind::agent;
  return operation.empty() && has_usage ? SpanKind::query : SpanKind::other;
}

// Tools in the form of OpenAI's requests; others are left out.
Json tools_of(const Json& attributes) {
  const Json tools = unpacked(attributes["gen_ai.tool.definitions"]);
  Json out = Json::array();
  for (const Json& tool : tools.items()) {
    if (tool["function"].is_object()) {
      out.push_back(tool);
    } else if (tool["type"].as_string() == "function" && tool["name"].is_string()) {
      Json function = tool;
      function.erase("type");
      out.push_back(Json().set("type", "function").set("function", std::move(function)));
    }
  }
  return out.size() > 0 ? out : Json();
}

}  // namespace

Result<OtelSpan> read_span(const Json& span) {
  if (!span.is_object()) return invalid(format("expected a span, found {}", span.type_name()));
  OtelSpan out{.trace = std::string(either(span, "trace_id", "traceId").as_string()),
               .id = std::string(either(span, "span_id", "spanId").as_string()),
               .parent = std::string(either(span, "parent_span_id", "parentSpanId").as_string())};
  if (out.trace.empty() || out.id.empty()) return invalid("a span needs trace_id and span_id");
  const auto within = [&out](const Error& error) {
    return invalid(format("span '{}': {}", out.id, error.message));
  };
  const auto start = instant(span, "start_time", "startTimeUnixNano");
  if (!start) return within(start.error());
  const auto end = instant(span, "end_time", "endTimeUnixNano");
  if (!end) return within(end.error());
  out.start_ns = *start;
  out.end_ns = *end;
  if (out.end_ns < out.start_ns) return within(invalid("it ends before it begins"));
  const Json& code = span["status"]["code"];
  out.failed =
      code.as_int() == 2 || code.as_string() == "ERROR" || code.as_string() == "STATUS_CODE_ERROR";
  const Json attributes = attributes_of(span);
  out.agent = attributes["gen_ai.agent.name"].as_string();
  const auto input =
      tokens_of(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens");
  if (!input) return within(input.error());
  const auto output =
      tokens_of(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens");
  if (!output) return within(output.error());
  const auto cached = tokens_of(attributes, "gen_ai.usage.cache_read.input_tokens", "");
  if (!cached) return within(cached.error());
  out.input_tokens = *input;
  out.output_tokens = *output;
  out.cached_tokens = *cached;
  out.kind = kind_of(attributes["gen_ai.operation.name"].as_string(), *input >= 0 || *output >= 0);
  if (out.kind != SpanKind::query) return out;
  out.messages = messages_of(attributes);
  out.tools = tools_of(attributes);
  return out;
}

Result<std::vector<const Json*>> spans_of(const Json& document) {
  std::vector<const Json*> out;
  if (document["resourceSpans"].is_array()) {
    for (const Json& resource : document["resourceSpans"].items()) {
      for (const Json& scope : resource["scopeSpans"].items()) {
        for (const Json& span : scope["spans"].items()) out.push_back(&span);
      }
    }
    return out;
  }
  if (document["spans"].is_array()) {
    for (const Json& span : document["spans"].items()) out.push_back(&span);
    return out;
  }
  if (document["span_id"].is_null() && document["spanId"].is_null()) {
    return invalid("expected a span, an object with spans, or an export with resourceSpans");
  }
  out.push_back(&document);
  return out;
}

}  // namespace assay::dataset
