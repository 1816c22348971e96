#include "plug/plug_target.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::plug {
namespace {

// How long a program that closed its output may take to end, so that its exit code can be told.
constexpr Duration kEndGrace = 100_ms;
constexpr std::string_view kNoAddress = "http://program";

// The body of a whole HTTP/1.1 request.
std::string_view body_of(const protocol::Pieces& request) {
  CHECK(request.count == 1);
  constexpr std::string_view kBlankLine = "\r\n\r\n";
  const std::string_view all = request.parts[0];
  const std::size_t end = all.find(kBlankLine);
  CHECK(end != std::string_view::npos);
  return all.substr(end + kBlankLine.size());
}

bool speaks_json_alone(Api api) {
  switch (api) {
    case Api::kserve:
    case Api::kserve_grpc:
    case Api::openai_transcriptions:
    case Api::openai_translations:
    case Api::realtime:       // a session of messages over a WebSocket
    case Api::openai_speech:  // its reply is sound, which no line holds
    case Api::openai_image_edits:
    case Api::openai_videos:  // a job over several requests
      return false;
    case Api::openai:
    case Api::openai_completions:
    case Api::sglang:
    case Api::videogen:
    case Api::openai_responses:
    case Api::anthropic_messages:
    case Api::ollama_chat:
    case Api::ollama_generate:
    case Api::openai_embeddings:
    case Api::rerank:
    case Api::score:
    case Api::classify:
    case Api::openai_images:
    case Api::kserve_json:
    case Api::described:
      return true;
  }
  return true;
}

// Waits for the program's output, and for room in its input where `writes`.
void wait_for_pipe(const PipedProgram& process, bool writes, Duration most) {
  if (most <= Duration{}) return;
  std::array<pollfd, 2> wanted{{{process.output(), POLLIN, 0}, {process.input(), POLLOUT, 0}}};
  timespec time{.tv_sec = most.ns / 1'000'000'000, .tv_nsec = most.ns % 1'000'000'000};
  ::ppoll(wanted.data(), writes ? 2 : 1, &time, nullptr);
}

}  // namespace

std::string_view command_of(std::string_view endpoint) {
  return endpoint.starts_with(kScheme) ? endpoint.substr(kScheme.size()) : std::string_view();
}

bool is_program(const Endpoints& endpoints) {
  return std::ranges::any_of(endpoints.urls,
                             [](const std::string& url) { return !command_of(url).empty(); });
}

Endpoints without_programs(const Endpoints& endpoints) {
  Endpoints out = endpoints;
  for (std::string& url : out.urls) {
    if (!command_of(url).empty()) url = kNoAddress;
  }
  return out;
}

PlugTarget::PlugTarget(const Plan& plan, std::shared_ptr<const protocol::PreparedBodies> bodies,
                       const Endpoints& endpoints, const PlugOptions& options, Clock& clock)
    : requests_(std::move(bodies), plan),
      command_(command_of(endpoints.urls[0])),
      query_timeout_(endpoints.query_timeout),
      options_(options),
      clock_(clock) {}

PlugTarget::~PlugTarget() = default;

Result<std::unique_ptr<PlugTarget>> PlugTarget::create(
    const Plan& plan, std::shared_ptr<const protocol::PreparedBodies> bodies,
    const Endpoints& endpoints, const PlugOptions& options, Clock& clock) {
  CHECK(is_program(endpoints));
  if (endpoints.urls.size() > 1) {
    return invalid("--endpoint program:…: a program is the run's only endpoint");
  }
  if (!speaks_json_alone(endpoints.api)) {
    return invalid(
        format("--api-type {}: a program's lines are JSON, and this kind sends or brings bytes",
               to_string(endpoints.api)));
  }
  std::unique_ptr<PlugTarget> out(
      new PlugTarget(plan, std::move(bodies), endpoints, options, clock));
  TRY(out->launch());
  if (auto ready = out->wait_ready(); !ready) {
    out->process_.end(Duration{});
    return ready.error();
  }
  return out;
}

Result<void> PlugTarget::launch() {
  received_.clear();
  ready_ = false;
  ready_by_ = clock_.now() + options_.ready_max;
  ++starts_;
  ASSIGN_OR_RETURN(process_, PipedProgram::start(command_, "--endpoint"));
  return {};
}

Result<void> PlugTarget::wait_ready() {
  const auto wrong = [this](std::string_view what) {
    return Error{Code::refused,
                 format("the program '{}' {}\n  its first line must be {{\"ready\": true}}; see "
                        "docs/formats/plugin.md",
                        command_, what)};
  };
  for (;;) {
    const std::size_t end = received_.find('\n');
    if (end != std::string::npos) {
      const auto line = read_plug_line(std::string_view(received_).substr(0, end));
      if (!line) return wrong("wrote a first line that is " + line.error().message);
      if (line->kind != PlugLine::Kind::ready) return wrong("answered before it was ready");
      name_ = line->name;
      received_.erase(0, end + 1);
      seen_empty_ = clock_.now();
      ready_ = true;
      return {};
    }
    if (received_.size() > kLineMax) return wrong("wrote a first line without an end");
    const PipedProgram::Io io = process_.read(received_);
    if (io == PipedProgram::Io::closed) {
      return wrong(process_.end(kEndGrace) + " before it was ready");
    }
    if (io == PipedProgram::Io::done) continue;
    const Instant now = clock_.now();
    if (now >= ready_by_) {
      return wrong(format("was not ready within {}", human_duration(options_.ready_max)));
    }
    wait_for_pipe(process_, false, ready_by_ - now);
  }
}

void PlugTarget::submit(const Query& query, Instant due, EventSink& sink) {
  const std::uint64_t key = query_key(query);
  const protocol::Asked asked = requests_.asked(query);
  Open open;
  open.event = {.query = query, .due = due};
  open.event.stream_asked = asked.stream;
  open.event.tokens_max = asked.tokens_max;
  open.event.choices_asked = asked.choices;
  open_.emplace(key, open);
  if (!process_.running()) {
    if (failed_starts_ >= kStartsMax) {
      refused_.emplace_back(
          key, format("the program ended {} times in a row without a reply", failed_starts_));
      return;
    }
    if (const auto started = launch(); !started) {
      ++failed_starts_;
      refused_.emplace_back(key, started.error().message);
      return;
    }
  }
  const std::string_view body = body_of(requests_.fill(query, 0, options_.run_key, true));
  waiting_.push_back({.key = key, .line = format("{{\"query\":{},\"request\":{}}}\n", key, body)});
  write(sink);
}

void PlugTarget::write(EventSink& sink) {
  if (!ready_) return;
  while (!waiting_.empty()) {
    Waiting& first = waiting_.front();
    std::string_view rest = std::string_view(first.line).substr(first.sent);
    const PipedProgram::Io io = process_.write(rest);
    first.sent = first.line.size() - rest.size();
    if (io != PipedProgram::Io::done) return;  // the end of its input shows at its output too
    if (const auto at = open_.find(first.key); at != open_.end()) {
      at->second.event.sent = clock_.now();
      sink.on_sent(at->second.event.query, at->second.event.due, at->second.event.sent);
    }
    waiting_.pop_front();
  }
}

Instant PlugTarget::next_limit(Instant until) const {
  if (!ready_) return std::min(until, ready_by_);
  if (query_timeout_ == Duration::max()) return until;
  for (const auto& [key, open] : open_) {
    if (open.event.sent.known()) until = std::min(until, open.event.sent + query_timeout_);
  }
  return until;
}

void PlugTarget::poll(Instant until, EventSink& sink) {
  if (!refused_.empty()) {
    while (!refused_.empty()) {
      auto [key, why] = std::move(refused_.front());
      refused_.pop_front();
      const auto at = open_.find(key);
      if (at == open_.end()) continue;
      at->second.event.outcome = Outcome::connect_failed;
      at->second.event.done = clock_.now();
      finish(at, why, sink);
    }
    return;
  }
  if (!process_.running()) {
    clock_.sleep_until(until);
    return;
  }
  write(sink);
  const Instant now = clock_.now();
  wait_for_pipe(process_, ready_ && !waiting_.empty(), next_limit(until) - now);
  read(sink);
  if (process_.running() && !ready_ && clock_.now() >= ready_by_) {
    fail_all(Outcome::connect_failed,
             format("the program was not ready within {}", human_duration(options_.ready_max)),
             sink);
  }
  time_out(clock_.now(), sink);
}

void PlugTarget::read(EventSink& sink) {
  const PipedProgram::Io io = process_.read(received_);
  const Instant now = clock_.now();
  if (io == PipedProgram::Io::later) {
    seen_empty_ = now;
    return;
  }
  std::size_t begin = 0;
  // Every line of one read came since the pipe was last empty.
  const std::size_t last = received_.rfind('\n');
  while (process_.running()) {
    const std::size_t end = received_.find('\n', begin);
    if (end == std::string::npos) break;
    const std::string line = received_.substr(begin, end - begin);
    begin = end + 1;
    if (!line.empty()) take(line, now, end != last, sink);
  }
  if (!process_.running()) return;  // a line was a fault: what follows is not read
  received_.erase(0, begin);
  if (received_.size() > kLineMax) {
    fail_all(Outcome::bad_reply,
             format("the program wrote a line of more than {}", human_bytes(kLineMax)), sink);
    return;
  }
  if (io != PipedProgram::Io::closed) return;
  const std::string ended = "the program " + process_.end(kEndGrace);
  if (ready_) return fail_all(Outcome::reset, ended, sink);
  fail_all(Outcome::connect_failed, ended + " before it was ready", sink);
}

void PlugTarget::take(std::string_view line, Instant arrival, bool shares_read, EventSink& sink) {
  auto read = read_plug_line(line);
  if (!read) {
    return fail_all(Outcome::bad_reply, "the program wrote a line with " + read.error().message,
                    sink);
  }
  if (read->kind == PlugLine::Kind::ready) {
    name_ = read->name;
    ready_ = true;
    return;
  }
  if (!ready_) {
    return fail_all(Outcome::bad_reply, "the program answered before it was ready", sink);
  }
  take_reply(*read, arrival, shares_read, sink);
}

void PlugTarget::take_reply(PlugLine& line, Instant arrival, bool shares_read, EventSink& sink) {
  const auto at = open_.find(line.query);
  // A query that was given up: the program may not have heard of it.
  if (at == open_.end() || !at->second.event.sent.known()) return;
  Event& event = at->second.event;
  const Duration uncertainty = std::max(Duration{}, arrival - std::max(seen_empty_, event.sent));
  if (!event.first_byte.known()) event.first_byte = event.first_event = arrival;
  take_counts(event.usage, line.usage);
  event.received_bytes += line.text.size();
  if (line.has_fragment && !line.text.empty()) {
    ++event.stream_events;
    ++event.fragments;
    event.output_bytes += line.text.size();
    if (!event.first_token.known()) {
      event.first_token = arrival;
      event.first_token_uncertainty = uncertainty;
      event.first_fragment_bytes = static_cast<std::uint32_t>(line.text.size());
    }
    if (line.category == Category::text && !event.first_visible.known()) {
      event.first_visible = arrival;
      event.first_visible_uncertainty = uncertainty;
    }
    event.last_token = arrival;
    event.streamed = event.stream_asked;
    sink.on_stream_event(event.query,
                         {.category = line.category,
                          .shares_read = shares_read,
                          .bytes = static_cast<std::uint32_t>(line.text.size()),
                          .tokens_so_far = line.done ? -1 : line.usage.completion_tokens,
                          .arrival = arrival,
                          .read = arrival,
                          .uncertainty = uncertainty},
                         line.text);
  }
  if (!line.done && !line.failed) return;
  failed_starts_ = 0;
  event.done = arrival;
  event.done_uncertainty = uncertainty;
  event.done_marker = line.done;
  event.finish = line.finish;
  if (line.failed) event.outcome = Outcome::stream_error;
  finish(at, line.error, sink);
}

void PlugTarget::time_out(Instant now, EventSink& sink) {
  if (query_timeout_ == Duration::max()) return;
  for (auto at = open_.begin(); at != open_.end();) {
    const auto here = at++;
    Event& event = here->second.event;
    if (!event.sent.known() || now - event.sent < query_timeout_) continue;
    event.outcome = Outcome::timed_out;
    event.done = now;
    finish(here, "the program did not answer in time", sink);
  }
}

void PlugTarget::fail_all(Outcome outcome, const std::string& why, EventSink& sink) {
  process_.end(Duration{});
  received_.clear();
  waiting_.clear();
  ++failed_starts_;
  const Instant now = clock_.now();
  while (!open_.empty()) {
    const auto at = open_.begin();
    at->second.event.outcome = outcome;
    at->second.event.done = now;
    finish(at, why, sink);
  }
}

void PlugTarget::finish(std::map<std::uint64_t, Open>::iterator at, std::string_view detail,
                        EventSink& sink) {
  Event event = at->second.event;
  event.released = event.done;
  open_.erase(at);
  sink.on_done(event, detail);
}

void PlugTarget::cancel_all(EventSink& sink) {
  waiting_.clear();
  refused_.clear();
  const Instant now = clock_.now();
  while (!open_.empty()) {
    const auto at = open_.begin();
    at->second.event.outcome = Outcome::cancelled;
    at->second.event.done = now;
    finish(at, "", sink);
  }
  // It may still write of these queries; a part of a line in its input would spoil the next.
  process_.end(Duration{});
  received_.clear();
}

}  // namespace assay::plug
