// perf_analyzer's profile_export.json, as genai-perf leaves it: experiments[].requests[] with
// `timestamp`, `response_timestamps` (ns of a wall clock) and the bytes received,
// `response_outputs[].response`. Events are separated by their JSON; several events in one response
// came from one read and share its instant.
#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "interchange/read/foreign_facts.h"
#include "interchange/read/foreign_numbers.h"
#include "interchange/read/foreign_run.h"

namespace assay::interchange {
namespace {

// The server's usage; a value that is not a count is unknown.
void read_usage(const Json& usage, Usage& out) {
  if (!usage.is_object()) return;
  out.prompt_tokens = foreign_count(usage["prompt_tokens"], "prompt_tokens").value_or(-1);
  out.completion_tokens =
      foreign_count(usage["completion_tokens"], "completion_tokens").value_or(-1);
}

bool filled(const Json& json) { return !json.as_string().empty(); }

Category category_of(const Json& event, std::string& text) {
  if (event.find("error") != nullptr && event["choices"].size() == 0) return Category::error;
  const Json& choice = event["choices"][0];
  if (event["choices"].size() == 0) {
    return event["usage"].is_object() ? Category::usage : Category::other;
  }
  const Json& delta = choice["delta"].is_object() ? choice["delta"] : choice["message"];
  for (const Json* const words : {&delta["content"], &choice["text"]}) {
    if (!filled(*words)) continue;
    text += words->as_string();
    return Category::text;
  }
  if (filled(delta["reasoning_content"]) || filled(delta["reasoning"])) return Category::reasoning;
  if (delta["tool_calls"].size() > 0) return Category::tool_call;
  return choice["finish_reason"].is_string() ? Category::finish : Category::role;
}

// One response: events of a stream, or one JSON body.
void read_response(std::string_view response, Instant at, ForeignReply& out) {
  for (std::string_view line : split(response, '\n')) {
    line = trim(line);
    if (line.empty() || line.starts_with(':')) continue;
    if (line.starts_with("data:")) line = trim(line.substr(5));
    if (line == "[DONE]") {
      add_fragment(out, at, Category::marker);
      continue;
    }
    const auto json = Json::parse(line);
    if (!json) continue;  // not an event: genai-perf skips it too
    read_usage((*json)["usage"], out.event.usage);
    add_fragment(out, at, category_of(*json, out.text));
  }
}

Result<ForeignReply> genai_perf_reply(const Json& request, std::int64_t origin) {
  ForeignReply out;
  const Json& stamps = request["response_timestamps"];
  out.event.due = out.event.sent = Instant{request["timestamp"].as_int() - origin};
  out.event.done = out.event.sent;
  if (stamps.size() == 0) {
    out.event.outcome = Outcome::bad_reply;
    out.detail = "no response in the file";
    return out;
  }
  const Json& outputs = request["response_outputs"];
  for (std::size_t i = 0; i < stamps.size(); ++i) {
    ASSIGN_OR_RETURN(const std::int64_t stamp,
                     foreign_stamp(stamps[i], format("response_timestamps[{}]", i)));
    const Instant at{stamp - origin};
    if (at < out.event.done) return invalid("response_timestamps: going backwards");
    out.event.done = at;
    const Json& output = outputs[i]["response"];
    if (output.is_string()) {
      read_response(output.as_string(), at, out);
    } else {
      add_fragment(out, at);  // outputs were not kept: a response is a fragment
    }
  }
  const bool whole_reply = stamps.size() == 1 && out.events.size() == 1;
  if (whole_reply) out.events.clear();  // one body, no stream
  const bool failed = std::ranges::any_of(
      out.events, [](const StreamEvent& e) { return e.category == Category::error; });
  if (failed) {
    out.event.outcome = Outcome::stream_error;
    out.detail = "an error object in the stream";
  }
  return out;
}

// The load level of the experiment, in perf_analyzer's terms.
ForeignFacts genai_perf_load(const Json& experiment) {
  ForeignFacts out;
  const double value = experiment["value"].as_double();
  if (!(value > 0)) return out;
  const std::string_view mode = experiment["mode"].as_string();
  if (mode == "concurrency") out.concurrency = value;
  // Its request rates are constant unless configured otherwise; the file does not say which.
  if (mode == "request_rate") {
    out.rate = value;
    out.pattern = "constant";
  }
  return out;
}

Json genai_perf_facts(const Json& file) {
  Json rest = Json::object();
  for (const auto& [key, value] : file.members()) {
    if (key != "experiments") rest.set(key, value);
  }
  const Json& endpoint = file["endpoint"];
  return Json()
      .set("api", endpoint.is_string() ? Json(foreign_api(endpoint.as_string())) : endpoint)
      .set("streaming", true)
      .set("imported", Json().set("format", "genai-perf").set("fields", std::move(rest)));
}

void add_genai_perf_asked(const Json& experiment, RunInfo& info) {
  ForeignFacts said = genai_perf_load(experiment["experiment"]);
  const Json& payload = experiment["requests"][0]["request_inputs"]["payload"];
  if (const auto asked = Json::parse(payload.as_string("null"))) {
    said.model = (*asked)["model"].as_string();
    if ((*asked)["stream"].is_bool()) info.facts.set("streaming", (*asked)["stream"]);
  }
  add_facts(info, said);
}

}  // namespace

Result<ForeignRun> read_genai_perf_json(std::string_view text) {
  ASSIGN_OR_RETURN(const Json file, Json::parse(text));
  const Json& experiments = file["experiments"];
  if (experiments.size() == 0) return invalid("experiments: missing or empty");
  if (experiments.size() > 1) {
    return Error{
        Code::unsupported,
        format("experiments: {} of them; one file a load level is wanted", experiments.size())};
  }
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  const Json& requests = experiments[0]["requests"];
  for (const Json& request : requests.items()) {
    ASSIGN_OR_RETURN(const std::int64_t stamp,
                     foreign_stamp(request["timestamp"], "requests[]: timestamp"));
    origin = std::min(origin, stamp);
  }
  ForeignRun out;
  out.info.started = {origin};
  out.info.offset.wall_minus_monotonic = {origin};
  out.info.phases = {{PhaseKind::performance, "performance", false}};
  out.info.facts = genai_perf_facts(file);
  add_genai_perf_asked(experiments[0], out.info);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    auto reply = genai_perf_reply(requests[i], origin);
    if (!reply) return reply.error().within(format("requests[{}]", i));
    reply->event.query.index = reply->event.query.sample = static_cast<std::uint32_t>(i);
    out.replies.push_back(std::move(*reply));
  }
  if (out.replies.empty()) return invalid("experiments[0].requests: empty");
  return out;
}

}  // namespace assay::interchange
