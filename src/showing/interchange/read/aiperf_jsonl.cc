// AIPerf's profile_export.jsonl. Instants are ns since 1970; they become the log's clock with the
// first request at zero, and the log's header says what that zero is on the wall. Gaps between
// chunks are used where the file has them, else the first and the last chunk are all that is known.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "base/text.h"
#include "interchange/read/foreign_numbers.h"
#include "interchange/read/foreign_run.h"

namespace assay::interchange {
namespace {

std::optional<double> scale_ns(std::string_view unit) {
  if (unit == "ns") return 1;
  if (unit == "us") return 1e3;
  if (unit == "ms") return 1e6;
  if (unit == "s" || unit == "sec") return 1e9;
  return std::nullopt;
}

// A metric in ns; nothing where it is absent or in a unit that is no time.
Result<std::optional<Duration>> time_of(const Json& metrics, const char* name) {
  const Json& metric = metrics[name];
  const auto scale = scale_ns(metric["unit"].as_string());
  if (!scale || metric["value"].is_null()) return std::optional<Duration>();
  ASSIGN_OR_RETURN(const Duration time, foreign_time(metric["value"], *scale, name));
  return std::optional<Duration>(time);
}

Result<std::int32_t> count_of(const Json& metrics, const char* name) {
  return foreign_count(metrics[name]["value"], name);
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

Result<void> read_chunks(const Json& metrics, ForeignReply& out) {
  ASSIGN_OR_RETURN(const auto ttft, time_of(metrics, "time_to_first_token"));
  if (!ttft) return {};  // not streamed
  Instant at = out.event.sent + *ttft;
  add_fragment(out, at);
  const Json& chunks = metrics["inter_chunk_latency"];
  const auto scale = scale_ns(chunks["unit"].as_string());
  if (scale && chunks["value"].is_array()) {
    double since = 0;
    for (const Json& gap : chunks["value"].items()) {
      TRY(foreign_time(gap, *scale, "inter_chunk_latency"));
      since += gap.as_double() * *scale;
      ASSIGN_OR_RETURN(const Duration gaps, foreign_time(Json(since), 1, "inter_chunk_latency"));
      add_fragment(out, at + gaps);
    }
    return {};
  }
  ASSIGN_OR_RETURN(const auto latency, time_of(metrics, "request_latency"));
  if (latency && *latency > *ttft) add_fragment(out, out.event.sent + *latency);
  return {};
}

Result<ForeignReply> aiperf_reply(const Json& line, std::int64_t origin) {
  ForeignReply out;
  const Json& metadata = line["metadata"];
  const Json& metrics = line["metrics"];
  ASSIGN_OR_RETURN(const std::int64_t start,
                   foreign_stamp(metadata["request_start_ns"], "metadata.request_start_ns"));
  Event& event = out.event;
  event.due = event.sent = event.done = Instant{start - origin};
  if (!metadata["request_end_ns"].is_null()) {
    ASSIGN_OR_RETURN(const std::int64_t end,
                     foreign_stamp(metadata["request_end_ns"], "metadata.request_end_ns"));
    if (end < start) return invalid("metadata.request_end_ns: before the request's start");
    event.done = Instant{end - origin};
  }
  read_error(line, out);
  if (event.outcome != Outcome::ok) return out;
  ASSIGN_OR_RETURN(event.usage.prompt_tokens, count_of(metrics, "input_sequence_length"));
  ASSIGN_OR_RETURN(event.usage.completion_tokens, count_of(metrics, "output_sequence_length"));
  ASSIGN_OR_RETURN(event.usage.reasoning_tokens, count_of(metrics, "reasoning_token_count"));
  TRY(read_chunks(metrics, out));
  ASSIGN_OR_RETURN(const auto latency, time_of(metrics, "request_latency"));
  if (latency) event.done = event.sent + *latency;
  if (!out.events.empty()) event.done = std::max(event.done, out.events.back().arrival);
  return out;
}

}  // namespace

Result<ForeignRun> read_aiperf_jsonl(std::string_view text) {
  std::vector<Json> lines;
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  std::size_t number = 0;
  std::vector<std::size_t> numbers;  // of the lines
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    auto json = Json::parse(line);
    if (!json) return json.error().within(format("line {}", number));
    const auto start =
        foreign_stamp((*json)["metadata"]["request_start_ns"], "metadata.request_start_ns");
    if (!start) return start.error().within(format("line {}", number));
    origin = std::min(origin, *start);
    lines.push_back(std::move(*json));
    numbers.push_back(number);
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
    auto read = aiperf_reply(lines[i], origin);
    if (!read) return read.error().within(format("line {}", numbers[i]));
    ForeignReply& reply = *read;
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

}  // namespace assay::interchange
