// AIPerf's profile_export.jsonl. Instants are ns since 1970. The log's clock has its zero at the
// first request, and the log's header has the wall time of that zero. Gaps between chunks are used
// where the file has them; otherwise only the first and the last chunk are known.
#include <algorithm>
#include <functional>
#include <limits>
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

// A metric in ns; nullopt where it is absent or its unit is not a unit of time.
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

// Instants are ns since 1970, as in the file.
Result<ForeignReply> aiperf_reply(const Json& line) {
  ForeignReply out;
  const Json& metadata = line["metadata"];
  const Json& metrics = line["metrics"];
  ASSIGN_OR_RETURN(const std::int64_t start,
                   foreign_stamp(metadata["request_start_ns"], "metadata.request_start_ns"));
  Event& event = out.event;
  event.due = event.sent = event.done = Instant{start};
  if (!metadata["request_end_ns"].is_null()) {
    ASSIGN_OR_RETURN(const std::int64_t end,
                     foreign_stamp(metadata["request_end_ns"], "metadata.request_end_ns"));
    if (end < start) return invalid("metadata.request_end_ns: before the request's start");
    event.done = Instant{end};
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

void set_origin(ForeignReply& reply, Duration origin) {
  Event& event = reply.event;
  for (Instant* const at : {&event.due, &event.sent, &event.done}) *at = *at - origin;
  for (StreamEvent& e : reply.events) {
    e.arrival = e.arrival - origin;
    e.read = e.read - origin;
  }
}

// Errors name the line; an empty line is skipped.
Result<void> for_each_line(std::string_view text,
                           const std::function<Result<void>(const Json&)>& use) {
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    const std::string where = format("line {}", number);
    if (line.size() > kForeignLineMax) {
      return invalid(format("{} bytes, and a request has {} MiB at most",
                            with_thousands(static_cast<std::int64_t>(line.size())),
                            kForeignLineMax >> 20))
          .within(where);
    }
    const auto json = Json::parse(line);
    if (!json) return json.error().within(where);
    if (const auto used = use(*json); !used) return used.error().within(where);
  }
  return {};
}

}  // namespace

Result<ForeignRun> read_aiperf_jsonl(std::string_view text) {
  ForeignRun out;
  std::map<std::uint16_t, std::uint32_t> next;
  // The earliest instant is known only at the end, so instants stay wall times until then; no line
  // is kept in memory for it.
  TRY(for_each_line(text, [&](const Json& line) -> Result<void> {
    ASSIGN_OR_RETURN(ForeignReply reply, aiperf_reply(line));
    const std::string_view phase = line["metadata"]["benchmark_phase"].as_string();
    Query& query = reply.event.query;
    query.phase = phase == "warmup" ? 0 : 1;
    query.index = next[query.phase]++;
    query.sample = static_cast<std::uint32_t>(out.replies.size());  // the line, counted from 0
    out.replies.push_back(std::move(reply));
    return {};
  }));
  if (out.replies.empty()) return invalid("there is no request in it");
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  for (const ForeignReply& reply : out.replies) origin = std::min(origin, reply.event.sent.ns);
  for (ForeignReply& reply : out.replies) set_origin(reply, Duration{origin});
  out.info.started = {origin};
  out.info.offset.wall_minus_monotonic = {origin};
  out.info.phases = {{PhaseKind::warmup, "warmup", false},
                     {PhaseKind::performance, "performance", false}};
  out.info.facts = Json().set("streaming", true).set("imported", Json().set("format", "aiperf"));
  // The file has no first token for a reply that was not streamed.
  const auto streamed = [](const ForeignReply& reply) { return !reply.events.empty(); };
  out.info.facts.set("streaming", std::ranges::any_of(out.replies, streamed));
  return out;
}

}  // namespace assay::interchange
