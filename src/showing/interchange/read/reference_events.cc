#include "interchange/read/reference_events.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "domain/tool_call.h"
#include "interchange/read/foreign_numbers.h"

namespace assay::interchange {
namespace {

using Kind = ReferenceEventKind;

constexpr std::array<std::pair<std::string_view, Kind>, 10> kEventKinds = {{
    {"session.started", Kind::started},
    {"session.ended", Kind::ended},
    {"session.interrupted", Kind::interrupted},
    {"session.start_performance_tracking", Kind::tracking_started},
    {"session.stop_performance_tracking", Kind::tracking_stopped},
    {"sample.issued", Kind::issued},
    {"sample.recv_first", Kind::recv_first},
    {"sample.recv_non_first", Kind::recv_non_first},
    {"sample.complete", Kind::complete},
    {"error.generic", Kind::error},
}};

Kind kind_named(std::string_view name) {
  for (const auto& [known, kind] : kEventKinds) {
    if (name == known) return kind;
  }
  return Kind::other;
}

bool is_of_a_query(Kind kind) {
  switch (kind) {
    case Kind::issued:
    case Kind::recv_first:
    case Kind::recv_non_first:
    case Kind::complete:
      return true;
    case Kind::started:
    case Kind::ended:
    case Kind::interrupted:
    case Kind::tracking_started:
    case Kind::tracking_stopped:
    case Kind::error:  // one without a query is the session's
    case Kind::other:
      return false;
  }
  return false;
}

// A string, or a list of pieces. `streamed` is set for a list.
Result<ReferencePart> read_words(const Json& value, Category category, std::string_view where,
                                 bool& streamed) {
  ReferencePart out{.category = category};
  if (value.is_string()) {
    out.first = value.as_string();
    return out;
  }
  if (!value.is_array()) return invalid(format("{}: neither a text nor a list of texts", where));
  streamed = true;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_string()) return invalid(format("{}[{}]: no text", where, i));
    if (i == 0) {
      out.first = value[i].as_string();
    } else {
      out.rest += value[i].as_string();
      out.has_rest = true;
    }
  }
  return out;
}

// The client's number of a call in a stream; -1: no such number.
std::int32_t call_index(const Json& call) {
  const Json* const index = call.find("index");
  if (index == nullptr || index->is_null()) return 0;
  if (!index->is_integer()) return -1;
  const std::int64_t value = index->as_int(-1);
  return value < 0 || value > 1'000'000 ? -1 : static_cast<std::int32_t>(value);
}

// Control bytes end a field of our form; no id, name or JSON text holds them.
std::string plain(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return c == kToolCallBegins || c == kToolCallField; });
  return out;
}

// One piece of a call, as a fragment of ours (domain/tool_call.h).
std::string call_text(std::int32_t index, const Json& call, bool begins) {
  const Json& function = call["function"];
  std::string out;
  if (begins) {
    out += kToolCallBegins;
    out += format("{}", index);
    out += kToolCallField;
    out += plain(call["id"].as_string());
    out += kToolCallField;
    out += plain(function["name"].as_string());
    out += kToolCallField;
  }
  return out + plain(function["arguments"].as_string());
}

// A list of calls, or of lists of deltas. A delta of another call than the one before begins it
// again; tool_calls_from() joins the pieces with one index.
Result<ReferencePart> read_calls(const Json& calls, std::string_view where, bool& streamed) {
  if (!calls.is_array()) return invalid(format("{}: no list of calls", where));
  ReferencePart out{.category = Category::tool_call};
  std::int32_t last = -1;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    std::string text;
    if (calls[i].is_object()) {
      text = call_text(static_cast<std::int32_t>(i), calls[i], true);
    } else if (calls[i].is_array()) {
      streamed = true;
      for (const Json& delta : calls[i].items()) {
        const std::int32_t index = delta.is_object() ? call_index(delta) : -1;
        if (index < 0) return invalid(format("{}[{}]: no piece of a call", where, i));
        text += call_text(index, delta, index != last);
        last = index;
      }
    } else {
      return invalid(format("{}[{}]: no call", where, i));
    }
    if (i == 0) {
      out.first = std::move(text);
    } else {
      out.rest += text;
      out.has_rest = true;
    }
  }
  return out;
}

bool has_tag(const Json& data, std::string_view tag) {
  return data.is_array() && data[std::size_t{0}].as_string() == tag;
}

std::uint16_t status_in(std::string_view message) {
  constexpr std::string_view kHttp = "HTTP ";
  if (!message.starts_with(kHttp)) return 0;
  const auto number = parse_int(message.substr(kHttp.size(), 3));
  return number && *number >= 100 && *number <= 599 ? static_cast<std::uint16_t>(*number) : 0;
}

// The client's error types are names of Python's exceptions and some words of its own.
Outcome outcome_of(std::string_view type, std::string_view message) {
  for (int i = 1; i < kOutcomes; ++i) {
    const auto ours = static_cast<Outcome>(i);
    if (type == to_string(ours)) return ours;
  }
  if (status_in(message) > 0) return Outcome::http_error;
  const std::string words = lower(type);
  const auto has = [&words](std::string_view part) {
    return words.find(part) != std::string::npos;
  };
  if (has("aborted") || has("cancel")) return Outcome::cancelled;
  if (has("timeout")) return Outcome::timed_out;
  if (has("ssl") || has("certificate")) return Outcome::tls_failed;
  if (has("reset") || has("brokenpipe")) return Outcome::reset;
  if (has("incompleteread") || has("eof")) return Outcome::truncated;
  if (has("refused") || has("connect") || has("gaierror")) return Outcome::connect_failed;
  return Outcome::bad_reply;
}

}  // namespace

bool is_reference_event(std::string_view line) {
  if (line.size() > kReferenceLineMax) return false;
  const auto json = Json::parse(line);
  return json && (*json)["event_type"].is_string() && json->find("timestamp_ns") != nullptr;
}

Result<ReferenceEvent> read_reference_event(std::string_view line) {
  if (line.size() > kReferenceLineMax) {
    return invalid(format("longer than {} MiB", kReferenceLineMax >> 20));
  }
  ASSIGN_OR_RETURN(const Json json, Json::parse(line));
  if (!json.is_object()) return invalid("no object");
  if (!json["event_type"].is_string()) return invalid("event_type: missing, or no text");
  ReferenceEvent out;
  out.kind = kind_named(json["event_type"].as_string());
  if (out.kind == Kind::other) return out;  // its fields may mean anything
  const Json& stamp = json["timestamp_ns"];
  constexpr std::int64_t kMost = 4'000'000'000'000'000'000;
  if (!stamp.is_integer() || stamp.as_int(-1) < 0 || stamp.as_int(-1) > kMost) {
    return invalid("timestamp_ns: missing, or no count of nanoseconds");
  }
  out.at = Instant{stamp.as_int()};
  out.uuid = json["sample_uuid"].as_string();
  if (is_of_a_query(out.kind) && out.uuid.empty()) {
    return invalid("sample_uuid: missing, and the event is a query's");
  }
  out.conversation = json["conversation_id"].as_string();
  out.finish = finish_reason_from(json["finish_reason"].as_string());
  out.data = json["data"];
  return out;
}

Result<ReferenceOutput> read_reference_output(const Json& data) {
  ReferenceOutput out;
  if (data.is_null()) return out;
  if (!has_tag(data, "TextModelOutput")) return invalid("data: no TextModelOutput");
  const Json& words = data[std::size_t{1}];
  const Json& reasoning = data[std::size_t{2}];
  const Json& calls = data[std::size_t{3}];
  if (!reasoning.is_null()) {
    ASSIGN_OR_RETURN(ReferencePart part,
                     read_words(reasoning, Category::reasoning, "data[2]", out.streamed));
    if (!part.first.empty() || part.has_rest) out.parts.push_back(std::move(part));
  }
  if (!words.is_null()) {
    ASSIGN_OR_RETURN(ReferencePart part,
                     read_words(words, Category::text, "data[1]", out.streamed));
    if (!part.first.empty() || part.has_rest) out.parts.push_back(std::move(part));
  }
  if (!calls.is_null()) {
    ASSIGN_OR_RETURN(ReferencePart part, read_calls(calls, "data[3]", out.streamed));
    if (!part.first.empty() || part.has_rest) out.parts.push_back(std::move(part));
  }
  return out;
}

Result<ReferenceFailure> read_reference_failure(const Json& data) {
  ReferenceFailure out;
  if (data.is_null()) return out;
  if (!has_tag(data, "ErrorData")) return invalid("data: no ErrorData");
  const std::string_view type = data[std::size_t{1}].as_string();
  const std::string_view message = data[std::size_t{2}].as_string();
  out.outcome = outcome_of(type, message);
  out.status = status_in(message);
  // Our own files have an outcome of ours as the type; it says nothing that the outcome does not.
  const bool ours = type == to_string(out.outcome) || type == "error" || type.empty();
  out.detail = ours              ? std::string(message)
               : message.empty() ? std::string(type)
                                 : format("{}: {}", type, message);
  out.never_sent = type == "TurnAbortedByPriorFailure" ||
                   (ours && message.starts_with("TurnAbortedByPriorFailure"));
  return out;
}

}  // namespace assay::interchange
