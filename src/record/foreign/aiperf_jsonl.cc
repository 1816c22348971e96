// AIPerf's profile_export.jsonl. Instants are ns since 1970; they become the log's clock with the
// first request at zero, and the log's header says what that zero is on the wall. Gaps between
// chunks are used where the file has them, else the first and the last chunk are all that is known.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "record/foreign/foreign_run.h"

namespace assay::record {
namespace {

std::optional<double> scale_ns(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s" || unit == "sec") return 1e9;
  return std::nullopt;
}

// A metric in ns; nothing where it is absent or in a unit that is no time.
std::optional<Duration> time_of(const Json& metric) {
  const auto scale = scale_ns(metric["unit"].as_string());
  if (!scale || !metric["value"].is_number()) return std::nullopt;
  return Duration{static_cast<std::int64_t>(std::llround(metric["value"].as_double() * *scale))};
}

std::int32_t count_of(const Json& metric) {
  return metric["value"].is_number() ? static_cast<std::int32_t>(metric["value"].as_double()) : -1;
}

void read_error(const Json& line, ForeignReply& out) {
  const Json& error = line["error"];
  if (line["metadata"]["was_cancelled"].as_bool()) {
    out.event.outcome = Outcome::cancelled;
  } else if (!error.is_null()) {
    const std::int64_t code = error["code"].as_int();
    out.event.outcome = code >= 100 && code <= 599 ? Outcome::http_error : Outcome::bad_reply;
    if (code >= 100 && code <= 599) out.event.http_status = static_cast<std::uint16_t>(code);
  }
  if (out.event.outcome == Outcome::ok) return;
  out.detail = error["message"].as_string(error["type"].as_string("the file does not say why"));
}

void read_chunks(const Json& metrics, ForeignReply& out) {
  const auto ttft = time_of(metrics["time_to_first_token"]);
  if (!ttft) return;  // not streamed
  Instant at = out.event.sent + *ttft;
  add_fragment(out, at);
  const Json& chunks = metrics["inter_chunk_latency"];
  const auto scale = scale_ns(chunks["unit"].as_string());
  if (scale && chunks["value"].is_array()) {
    double since = 0;
    for (const Json& gap : chunks["value"].items()) {
      since += gap.as_double() * *scale;
      add_fragment(out, at + Duration{static_cast<std::int64_t>(std::llround(since))});
    }
  } else if (const auto latency = time_of(metrics["request_latency"]);
             latency && *latency > *ttft) {
    add_fragment(out, out.event.sent + *latency);
  }
}

Result<ForeignReply> aiperf_reply(const Json& line, std::int64_t origin) {
  ForeignReply out;
  const Json& metadata = line["metadata"];
  const Json& metrics = line["metrics"];
  if (!metadata["request_start_ns"].is_integer()) return invalid("request_start_ns: missing");
  Event& event = out.event;
  event.due = event.sent = Instant{metadata["request_start_ns"].as_int() - origin};
  const Json& end = metadata["request_end_ns"];
  event.done = end.is_integer() ? Instant{end.as_int() - origin} : event.sent;
  read_error(line, out);
  if (event.outcome != Outcome::ok) return out;
  event.usage.prompt_tokens = count_of(metrics["input_sequence_length"]);
  event.usage.completion_tokens = count_of(metrics["output_sequence_length"]);
  event.usage.reasoning_tokens = count_of(metrics["reasoning_token_count"]);
  read_chunks(metrics, out);
  if (const auto latency = time_of(metrics["request_latency"])) event.done = event.sent + *latency;
  if (!out.events.empty()) event.done = std::max(event.done, out.events.back().arrival);
  return out;
}

}  // namespace

Result<ForeignRun> read_aiperf_jsonl(std::string_view text) {
  std::vector<Json> lines;
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    auto json = Json::parse(line);
    if (!json) return json.error().within(format("line {}", number));
    const Json& start = (*json)["metadata"]["request_start_ns"];
    if (!start.is_integer()) {
      return invalid(format("line {}: metadata.request_start_ns: missing", number));
    }
    origin = std::min(origin, start.as_int());
    lines.push_back(std::move(*json));
  }
  if (lines.empty()) return invalid("there is no request in it");
  ForeignRun out;
  out.info.started = {origin};
  out.info.offset.wall_minus_monotonic = {origin};
  out.info.phases = {{PhaseKind::warmup, "warmup", false},
                     {PhaseKind::performance, "performance", false}};
  out.info.facts = Json().set("streaming", true).set("imported", Json().set("format", "aiperf"));
  std::map<std::uint16_t, std::uint32_t> next;
  bool streamed = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSIGN_OR_RETURN(ForeignReply reply, aiperf_reply(lines[i], origin));
    const std::string_view phase = lines[i]["metadata"]["benchmark_phase"].as_string();
    Query& query = reply.event.query;
    query.phase = phase == "warmup" ? 0 : 1;
    query.index = next[query.phase]++;
    query.sample = static_cast<std::uint32_t>(i);  // the line, counted from 0
    streamed = streamed || !reply.events.empty();
    out.replies.push_back(std::move(reply));
  }
  // What was not streamed has no first token in the file.
  out.info.facts.set("streaming", streamed);
  return out;
}

}  // namespace assay::record
