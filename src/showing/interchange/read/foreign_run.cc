#include "interchange/read/foreign_run.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "record/event_log.h"

namespace assay::interchange {
namespace {

constexpr std::array<std::string_view, 3> kNames = {"vllm", "aiperf", "genai-perf"};

// One entry of the log to come: a send, an event of a stream, an end.
struct Moment {
  Instant at{};
  std::size_t reply = 0;
  std::int64_t step = 0;  // −1: sent; −2: done; else the event's number
};

// The order in which a client would have recorded them: by instant, then send, events, end.
bool earlier(const Moment& a, const Moment& b) {
  if (a.at != b.at) return a.at < b.at;
  if (a.reply != b.reply) return a.reply < b.reply;
  const auto rank = [](std::int64_t step) {
    return step == -1 ? -1 : step == -2 ? INT64_MAX : step;
  };
  return rank(a.step) < rank(b.step);
}

void complete(ForeignReply& reply) {
  Event& event = reply.event;
  for (const StreamEvent& e : reply.events) {
    if (event.stream_events++ == 0) event.first_byte = event.first_event = e.arrival;
    if (e.category == Category::marker) event.done_marker = true;
    if (!is_fragment(e.category)) continue;
    if (event.fragments++ == 0) {
      event.first_token = e.arrival;
      event.first_fragment_bytes = static_cast<std::uint32_t>(reply.text.size());
    }
    if (e.category == Category::text && !event.first_visible.known()) {
      event.first_visible = e.arrival;
    }
    event.last_token = e.arrival;
  }
  event.output_bytes = reply.text.size();
  event.streamed = event.fragments > 0;
  if (event.outcome == Outcome::ok && event.http_status == 0) event.http_status = 200;
}

std::vector<Moment> moments_of(const ForeignRun& run) {
  std::vector<Moment> out;
  for (std::size_t i = 0; i < run.replies.size(); ++i) {
    const ForeignReply& reply = run.replies[i];
    out.push_back({reply.event.sent, i, -1});
    for (std::size_t k = 0; k < reply.events.size(); ++k) {
      out.push_back({reply.events[k].arrival, i, static_cast<std::int64_t>(k)});
    }
    out.push_back({reply.event.done, i, -2});
  }
  std::ranges::sort(out, earlier);
  return out;
}

void tell(const ForeignRun& run, const Moment& moment, EventSink& sink) {
  const ForeignReply& reply = run.replies[moment.reply];
  const Query& query = reply.event.query;
  if (moment.step == -1) {
    sink.on_sent(query, reply.event.due, reply.event.sent);
  } else if (moment.step == -2) {
    sink.on_done(reply.event, reply.detail);
  } else {
    const auto k = static_cast<std::size_t>(moment.step);
    StreamEvent event = reply.events[k];
    const bool first = event.arrival == reply.event.first_token && is_fragment(event.category) &&
                       (k == 0 || !is_fragment(reply.events[k - 1].category));
    event.bytes = first ? static_cast<std::uint32_t>(reply.text.size()) : 0;
    sink.on_stream_event(query, event, first ? std::string_view(reply.text) : std::string_view());
  }
}

}  // namespace

std::optional<ForeignFormat> foreign_format_from(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end()) return std::nullopt;
  return static_cast<ForeignFormat>(found - kNames.begin());
}

std::string too_long_document(std::size_t bytes) {
  return assay::format("one JSON document of {} is too long: {} MiB are read at most",
                       human_bytes(bytes), kForeignDocumentMax >> 20);
}

std::optional<ForeignFormat> guess_foreign_format(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (line.size() <= kForeignLineMax) {
    const auto json = Json::parse(line);
    if (json && json->find("metadata") != nullptr && json->find("metrics") != nullptr) {
      return ForeignFormat::aiperf;
    }
  }
  if (text.size() > kForeignDocumentMax) return std::nullopt;
  const auto whole = Json::parse(text);
  if (!whole) return std::nullopt;
  if (whole->find("experiments") != nullptr) return ForeignFormat::genai_perf;
  if (whole->find("ttfts") != nullptr || (*whole)["request_throughput"].is_number()) {
    return ForeignFormat::vllm;
  }
  return std::nullopt;
}

Result<ForeignRun> read_foreign_run(ForeignFormat format, std::string_view text) {
  if (format != ForeignFormat::aiperf && text.size() > kForeignDocumentMax) {
    return invalid(too_long_document(text.size()));
  }
  switch (format) {
    case ForeignFormat::vllm:
      return read_vllm_json(text);
    case ForeignFormat::aiperf:
      return read_aiperf_jsonl(text);
    case ForeignFormat::genai_perf:
      return read_genai_perf_json(text);
  }
  CHECK(false && "no such ForeignFormat");
  return invalid("no such format");
}

void add_fragment(ForeignReply& reply, Instant at, Category category) {
  StreamEvent event{};
  event.category = category;
  event.arrival = event.read = at;
  reply.events.push_back(event);
}

Result<void> write_foreign_run(ForeignRun run, const std::filesystem::path& path) {
  if (run.replies.empty()) return invalid("there is no request in it");
  for (ForeignReply& reply : run.replies) complete(reply);
  const std::vector<Moment> moments = moments_of(run);
  ASSIGN_OR_RETURN(const auto log,
                   record::EventLogWriter::create(path, run.info, {.lossless = true}));
  const auto phases = static_cast<std::uint16_t>(run.info.phases.size());
  for (std::uint16_t phase = 0; phase < phases; ++phase) {
    // A phase without its own requests begins and ends with the run.
    Instant first = moments.back().at;
    for (const ForeignReply& reply : run.replies) {
      if (reply.event.query.phase == phase) first = std::min(first, reply.event.sent);
    }
    log->on_phase({phase, PhaseStep::started, first});
  }
  for (const Moment& moment : moments) tell(run, moment, *log);
  for (std::uint16_t phase = 0; phase < phases; ++phase) {
    Instant sent = moments.front().at;
    Instant done = moments.front().at;
    for (const ForeignReply& reply : run.replies) {
      if (reply.event.query.phase != phase) continue;
      sent = std::max(sent, reply.event.sent);
      done = std::max(done, reply.event.done);
    }
    log->on_phase({phase, PhaseStep::issue_ended, sent});
    log->on_phase({phase, PhaseStep::drained, done});
  }
  TRY(log->close({RunState::complete, ""}));
  if (const std::uint64_t lost = log->health().lost_records; lost > 0) {
    return Error{Code::exhausted, format("{}; {} records are lost", log->error(), lost)};
  }
  return {};
}

}  // namespace assay::interchange
