#include "endpoint/worker.h"
#include "endpoint/form.h"
#include "endpoint/prefix.h"

#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/text.h"

namespace assay::endpoint {
namespace {

constexpr std::size_t kEmissionsATurn = 256;  // then the sockets are polled
constexpr Duration kFlushEvery = 500_ms;
constexpr Duration kCountEvery = 5_ms;

bool accepts_gzip(const net::RequestHead& head) {
  const std::string_view accepted = head.find("accept-encoding");
  return accepted.find("gzip") != std::string_view::npos &&
         accepted.find("gzip;q=0") == std::string_view::npos;
}

}  // namespace

Worker::Worker(const EndpointOptions& options, std::uint32_t thread,
               std::unique_ptr<sim::Engine> engine, TruthLog* truth, JobBook& jobs,
               const Clock& clock)
    : options_(options),
      thread_(thread),
      clock_(clock),
      engine_(std::move(engine)),
      jobs_(&jobs),
      truth_(truth, static_cast<std::uint16_t>(thread)),
      stats_(options.faults.rates().size()),
      reader_(options.answers != nullptr, options.described.get()),
      writer_(options.quirks, options.stall, options.model, options.described.get()),
      outlet_({.quirks = options.quirks, .events_per_write = options.events_per_write}, clock,
              truth_),
      // A separate head costs a write; if the first token is due at once, send both together.
      head_at_once_(options.make_engine != nullptr || options.ttft != sim::Delay{} ||
                    options.concurrency != 0 || options.quirks.has(Quirk::role_first) ||
                    options.quirks.has(Quirk::empty_first)) {
  if (options.quirks.has(Quirk::cached_replies)) {
    cache_ = std::make_unique<sim::FixedEngine>(sim::FixedEngineOptions{
        .tokens_per_event = options.tokens_per_event, .kv_tokens = options.kv_tokens});
  }
}

void Worker::set_server(net::HttpServer* server) {
  server_ = server;
  outlet_.set_server(server);
}

void Worker::end() {
  for (Stream& stream : streams_) {
    if (stream.engine_id != 0) on_gone(stream.out.connection);
  }
  for (auto& [id, job] : own_jobs_) end_stream(job.stream, TruthOutcome::gone);
  own_jobs_.clear();
  truth_.flush();
}

void Worker::Stream::clear() {
  std::string kept = std::move(head);
  kept.clear();
  *this = Stream{};
  head = std::move(kept);
}

void Worker::answer(net::ConnectionId connection, const net::RequestHead& head,
                    std::string_view body, Route route, std::string_view model) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= streams_.size()) streams_.resize(slot + 1);
  Stream& stream = streams_[slot];
  CHECK(stream.engine_id == 0);
  stream.arrived = clock_.now();
  stream.out.connection = connection;
  stream.out.slot = slot;
  stream.out.generation = ++generations_;
  stream.out.number = numbers_++;
  stream.reply.route = route;
  stats_.requests.add(1);
  ask_ = {};
  ask_.model = model;
  if (route == Route::kserve) {
    const auto json_bytes = parse_uint(head.find("inference-header-content-length"));
    ask_.json_bytes = json_bytes ? *json_bytes : 0;
  }
  if (takes_form(route)) ask_.boundary = boundary_of(head.find("content-type"));
  stream.out.socket = route == Route::realtime;
  const auto read = reader_.read(route, body, ask_);
  if (const ApiError* const error = std::get_if<ApiError>(&read)) {
    return reject(stream, head, *error);
  }
  if (!options_.any_model && !ask_.model.empty() && ask_.model != options_.model) {
    return reject(stream, head,
                  {.status = 404,
                   .message = format("The model `{}` does not exist.", ask_.model),
                   .type = "NotFoundError",
                   .param = "model",
                   .code = "model_not_found"});
  }
  if (stream.out.socket) session_of(connection)->said.complete(ask_);
  const std::uint64_t place = mix(mix(options_.seed, thread_), stream.out.number);
  prepare(stream, head, place);
  record_request(stream, head);
  if (stream.fault.kind == FaultKind::http) return http_fault(stream, head);
  stats_.prompt_tokens.add(ask_.prompt_tokens);
  // A job outlives its connection, whose slot may be another reply's by then.
  const bool job = route == Route::video_jobs;
  stream.engine_id = std::uint64_t{stream.out.generation} << 32 | (job ? kJobSlot : slot);
  engine_for(stream, body)
      .admit(
          {.id = stream.engine_id,
           .prompt_tokens = ask_.prompt_tokens,
           .output_tokens = stream.reply.script.tokens,
           .prefix_blocks = prefix_blocks(body, ask_.prompt_tokens, options_.prefix_block_tokens)},
          stream.arrived);
  if (job) return open_job(stream, head);
  if (stream.reply.streamed) {
    begin_stream(stream, head);
  } else {
    put_head(stream, head);
    stream.head.assign(head_.view());
  }
}

sim::Engine& Worker::engine_for(Stream& stream, std::string_view body) {
  if (cache_ == nullptr) return *engine_;
  stream.body_hash = xxh3(body);
  return cached_.contains(stream.body_hash) ? *cache_ : *engine_;
}

void Worker::cancel(std::uint64_t engine_id) {
  engine_->cancel(engine_id, clock_.now());
  if (cache_ != nullptr) cache_->cancel(engine_id, clock_.now());
}

void Worker::prepare(Stream& stream, const net::RequestHead& head, std::uint64_t seed) {
  const Quirks& quirks = options_.quirks;
  Reply& reply = stream.reply;
  const bool socket = stream.out.socket;
  reply.streamed = socket || (ask_.stream && !quirks.has(Quirk::not_streamed));
  reply.wants_usage = ask_.include_usage;
  reply.continuous_usage = ask_.include_usage && ask_.continuous_usage;
  writer_.choose(reply, reply.route, ask_.model);
  if (is_of_vectors(reply.route)) {
    reply.streamed = false;
    reply.own->vectors = std::move(ask_.vectors);
    reply.own->tensors = std::move(ask_.tensors);
  }
  if (reply.route == Route::speech || socket) {
    reply.own->speech = ask_.speech;
    if (!reply.streamed) reply.own->speech.events = false;
  }
  reply.script = make_script(ask_, options_, ask_.has_seed ? mix(options_.seed, ask_.seed) : seed);
  constexpr std::uint32_t kGuarded = 8;  // requests at work that the guard keeps up with
  if (quirks.has(Quirk::unguarded)) {
    const sim::EngineStats load = engine_->stats();
    if (load.running + load.waiting >= kGuarded) {
      reply.script.vocabulary = Vocabulary::unguarded;
    }
  }
  reply.state = {.id = seed,
                 .created = static_cast<std::uint32_t>(wall_now().ns / 1'000'000'000),
                 .prompt_tokens = ask_.prompt_tokens,
                 .null_usage = ask_.include_usage && !quirks.has(Quirk::no_usage),
                 .choices = ask_.choices};
  stream.gzip = quirks.has(Quirk::gzip_forced) || (quirks.has(Quirk::gzip) && accepts_gzip(head));
  const bool old = head.minor_version == 0 || quirks.has(Quirk::http10);
  const bool bare = quirks.has(Quirk::close_delimited) || (old && reply.streamed);
  stream.out.close_after = bare || old || quirks.has(Quirk::silent_close) || !head.keep_alive;
  using Framing = BodyCoder::Framing;
  const bool ragged = quirks.has(Quirk::ragged_chunks);
  if (!socket && (bare || ragged || stream.gzip)) {
    stream.out.more().coder = std::make_unique<BodyCoder>(bare     ? Framing::none
                                                          : ragged ? Framing::ragged
                                                                   : Framing::chunks,
                                                          stream.gzip);
  }
  Rng rng(mix(seed, 1));
  stream.fault = options_.faults.empty() ? Fault{} : options_.faults.draw(rng);
  if (stream.fault.kind != FaultKind::none) draw_fault_place(stream, mix(seed, 2));
}

// The number of tokens before the fault. Half of them for a quirk of every request.
void Worker::draw_fault_place(Stream& stream, std::uint64_t seed) {
  const std::uint32_t tokens = stream.reply.script.tokens;
  const bool always = options_.faults.rates().front().probability == 1.0;
  if (always) {
    stream.fault_at = std::max(1u, tokens / 2);
    return;
  }
  Rng rng(seed);
  // A reply closed before its first byte would look like a refusal, and one closed after its last
  // token like a complete one: cut between the two.
  const bool inside =
      stream.fault.kind != FaultKind::reset && stream.fault.kind != FaultKind::stall;
  const std::uint32_t first = inside ? 1 : 0;
  const std::uint32_t places = tokens > first ? tokens - first : 1;
  stream.fault_at = first + static_cast<std::uint32_t>(rng.below(places));
}

void Worker::record_request(const Stream& stream, const net::RequestHead& head) {
  if (!truth_.on()) return;
  std::string_view id;
  for (const std::string_view name :
       {"x-request-id", "x-correlation-id", "request-id", "x-client-request-id"}) {
    id = head.find(name);
    if (!id.empty()) break;
  }
  const std::string made =
      id.empty() ? format("connection-{}-request-{}", stream.out.connection, stream.out.number)
                 : std::string();
  truth_.request({.number = stream.out.number,
                  .prompt_tokens = ask_.prompt_tokens,
                  .output_tokens = stream.reply.script.tokens,
                  .route = stream.reply.route,
                  .streamed = stream.reply.streamed,
                  .fault = stream.fault,
                  .arrived = stream.arrived,
                  .id = id.empty() ? std::string_view(made) : id});
}

void Worker::begin_stream(Stream& stream, const net::RequestHead& head) {
  if (!stream.out.socket) {
    put_head(stream, head);
    if (!settle(stream, outlet_.head(stream.out, head_.view(), head_at_once_))) return;
  }
  batch_.clear();
  writer_.opening(batch_, stream.reply);
  if (!batch_.empty()) settle(stream, outlet_.send(stream.out, batch_, Then::more));
}

// The head of a 200, without a plain reply's length and the blank line, which follow later.
void Worker::put_head(const Stream& stream, const net::RequestHead& head) {
  const Quirks& quirks = options_.quirks;
  const bool streamed = stream.reply.streamed;
  const bool wrong = quirks.has(Quirk::wrong_content_type);
  const bool old = head.minor_version == 0 || quirks.has(Quirk::http10);
  const bool chunked = streamed || quirks.has(Quirk::chunked_plain);
  head_.clear();
  if (quirks.has(Quirk::interim)) {
    head_.put("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n");
  }
  head_.put(old ? "HTTP/1.0 200 OK\r\n" : "HTTP/1.1 200 OK\r\n");
  const Dialect* const dialect = stream.reply.dialect;
  const bool lines = dialect != nullptr && dialect->lines();
  const std::string_view own_type =
      dialect == nullptr ? std::string_view{} : dialect->content_type(*stream.reply.own);
  if (!own_type.empty() && !wrong) {
    head_.put(format("Content-Type: {}\r\n", own_type));
  } else if (streamed && lines && !wrong) {
    head_.put("Content-Type: application/x-ndjson\r\n");
  } else if (streamed) {
    head_.put(wrong ? "Content-Type: application/json\r\n"
                    : "Content-Type: text/event-stream; charset=utf-8\r\n"
                      "Cache-Control: no-cache\r\n");
  } else {
    head_.put(wrong ? "Content-Type: text/html\r\n" : "Content-Type: application/json\r\n");
  }
  if (const std::string_view id = head.find("x-request-id"); !id.empty()) {
    head_.put("X-Request-Id: ");
    head_.put(id);
    head_.put("\r\n");
  }
  if (stream.gzip) head_.put("Content-Encoding: gzip\r\n");
  if (stream.out.close_after && !quirks.has(Quirk::silent_close)) {
    head_.put("Connection: close\r\n");
  }
  const bool bare = quirks.has(Quirk::close_delimited) || (old && streamed);
  if (chunked && !bare && !old) head_.put("Transfer-Encoding: chunked\r\n");
  if (streamed) head_.put("\r\n");
}

void Worker::emit(const sim::Emission& emission) {
  const auto slot = static_cast<std::uint32_t>(emission.request);
  if (slot == kJobSlot) return move_job_on(emission);
  if (slot >= streams_.size()) return;
  Stream& stream = streams_[slot];
  if (stream.engine_id != emission.request || stream.fault_done) return;  // gone or stalled
  const bool first = stream.reply.state.made == 0;
  stream.reply.state.cached_tokens = emission.cached;
  if (!stream.reply.streamed) {
    if (first) stats_.ttft.observe(emission.at - stream.arrived);
    stream.reply.state.made += emission.tokens;
    if (emission.last) emit_plain(stream);
    return;
  }
  const bool cuts_here = stream.reply.state.made + emission.tokens > stream.fault_at;
  const bool may_be_first =
      stream.fault.kind == FaultKind::reset || stream.fault.kind == FaultKind::stall;
  if (stream.fault.kind != FaultKind::none && cuts_here && (!first || may_be_first)) {
    return inject(stream);
  }
  const Instant before = stream.out.last_handed;
  batch_.clear();
  writer_.fragments(batch_, stream.reply, emission.tokens, emission.last);
  stats_.output_tokens.add(emission.tokens);
  if (batch_.empty() && !emission.last) return;  // held back or hidden
  // Where events share a write, a reply's end joins its last token: one write less.
  const bool together =
      emission.last && options_.events_per_write > 1 && stream.fault.kind == FaultKind::none;
  if (together) writer_.tail(batch_, stream.reply);
  const auto status = outlet_.send(stream.out, batch_, together ? Then::finish : Then::more);
  if (status != Outlet::Status::gone) {
    observe(stream, emission.at, before, first);
    if (together) stats_.latency.observe(stream.out.last_handed - stream.arrived);
  }
  if (settle(stream, status) && emission.last && !together) emit_last(stream);
}

void Worker::observe(const Stream& stream, Instant due, Instant before, bool first) {
  const Instant at = stream.out.last_handed;
  if (at == before) return;  // it waits for others or for its turn
  if (at >= due) stats_.lateness_ns.record(static_cast<std::uint64_t>((at - due).ns));
  if (first) {
    stats_.ttft.observe(at - stream.arrived);
  } else {
    stats_.itl.observe(at - before);
  }
}

void Worker::emit_last(Stream& stream) {
  if (stream.fault.kind != FaultKind::none) return inject(stream);
  stats_.latency.observe(stream.out.last_handed - stream.arrived);
  stream.reply.state.latency_s = (stream.out.last_handed - stream.arrived).seconds();
  batch_.clear();
  writer_.tail(batch_, stream.reply);
  if (batch_.empty()) batch_.mark(Category::other, 0);
  settle(stream, outlet_.send(stream.out, batch_, Then::finish));
}

FaultKind Worker::fault_of(const Stream& stream) {
  const FaultKind kind = stream.fault.kind;
  const bool words = kind == FaultKind::error || kind == FaultKind::garbage;
  const Reply& reply = stream.reply;
  const bool raw = reply.dialect != nullptr && reply.dialect->raw(*reply.own);
  return words && raw ? FaultKind::truncate : kind;
}

// Applies the stream's fault.
void Worker::inject(Stream& stream) {
  count_fault(stream.fault);
  stream.fault_done = true;
  cancel(stream.engine_id);
  batch_.clear();
  switch (fault_of(stream)) {
    case FaultKind::none:
    case FaultKind::http:
      CHECK(false && "no fault that strikes a stream");
    case FaultKind::reset:
      settle(stream, outlet_.send(stream.out, batch_, Then::reset));
      return;
    case FaultKind::truncate:
      settle(stream, outlet_.send(stream.out, batch_, Then::close));
      return;
    case FaultKind::error:
      writer_.error(batch_, stream.reply, "The request was aborted by the server.");
      settle(stream, outlet_.send(stream.out, batch_, Then::finish));
      return;
    case FaultKind::garbage:
      writer_.garbage(batch_, stream.reply);
      settle(stream, outlet_.send(stream.out, batch_, Then::finish));
      return;
    case FaultKind::stall:
      return;  // until the client leaves
  }
}

bool Worker::settle(Stream& stream, Outlet::Status status) {
  if (status == Outlet::Status::open) return true;
  const bool served = status == Outlet::Status::complete;
  end_stream(stream, stream.fault_done ? TruthOutcome::faulted
                     : served          ? TruthOutcome::served
                                       : TruthOutcome::gone);
  return false;
}

void Worker::end_stream(Stream& stream, TruthOutcome outcome, int status) {
  if (stream.engine_id != 0 && outcome == TruthOutcome::gone) {
    cancel(stream.engine_id);
  }
  switch (outcome) {
    case TruthOutcome::served:
      if (cache_ != nullptr && cached_.size() < kCachedMax) cached_.insert(stream.body_hash);
      stats_.served.add(1);
      stats_.finished[static_cast<std::size_t>(stream.reply.script.finish)].add(1);
      break;
    case TruthOutcome::gone:
      stats_.gone.add(1);
      break;
    case TruthOutcome::rejected:
      stats_.rejected.add(1);
      break;
    case TruthOutcome::faulted:
      break;  // counted when it was injected
  }
  stats_.events.add(stream.out.events);
  truth_.end({.number = stream.out.number,
              .outcome = outcome,
              .http_status = static_cast<std::uint16_t>(status),
              .tokens = stream.out.tokens,
              .events = stream.out.events,
              .at = stream.out.last_handed});
  if (stream.out.socket) {
    if (Session* const session = session_of(stream.out.connection)) session->said.end_turn();
  }
  stream.clear();
}

void Worker::count_fault(const Fault& fault) {
  const auto& rates = options_.faults.rates();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i].fault == fault) return stats_.faults[i].add(1);
  }
}

void Worker::on_gone(net::ConnectionId connection) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot < streams_.size() && streams_[slot].out.connection == connection) {
    Stream& stream = streams_[slot];
    end_stream(stream, stream.fault_done ? TruthOutcome::faulted : TruthOutcome::gone);
  }
  if (session_of(connection) != nullptr) sessions_[slot].reset();
}

void Worker::on_progress(net::ConnectionId connection, std::uint64_t handed) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= streams_.size() || streams_[slot].out.connection != connection) return;
  settle(streams_[slot], outlet_.progress(streams_[slot].out, handed));
}

// Prefetches for the next emissions: first a stream, then, once it is there, its connection.
// Thousands of streams, each with an event every 50 ms, don't stay in a cache.
void Worker::prefetch(std::size_t emission) const {
  constexpr std::size_t kStreamAhead = 3;
  constexpr std::size_t kConnectionAhead = 1;
  constexpr std::size_t kLine = 64;
  const auto stream_of = [this](std::size_t at) -> const Stream* {
    if (at >= emissions_.size()) return nullptr;
    const auto slot = static_cast<std::uint32_t>(emissions_[at].request);
    return slot < streams_.size() ? &streams_[slot] : nullptr;
  };
  if (const Stream* const stream = stream_of(emission + kStreamAhead)) {
    const char* const bytes = reinterpret_cast<const char*>(stream);
    for (std::size_t at = 0; at < sizeof(Stream); at += kLine) __builtin_prefetch(bytes + at, 1);
  }
  if (const Stream* const stream = stream_of(emission + kConnectionAhead)) {
    server_->prefetch(stream->out.connection);
  }
}

Instant Worker::on_turn(Instant now) {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  while (outlet_.take_due(now, slot, generation)) {
    Stream& stream = streams_[slot];
    if (stream.out.generation == generation) settle(stream, outlet_.resume(stream.out));
  }
  if (emission_at_ == emissions_.size()) {
    emissions_.clear();
    emission_at_ = 0;
    if (cache_ != nullptr) cache_->advance(now, emissions_);
    engine_->advance(now, emissions_);
  }
  const std::size_t end = std::min(emissions_.size(), emission_at_ + kEmissionsATurn);
  while (emission_at_ < end) {
    prefetch(emission_at_);
    emit(emissions_[emission_at_++]);
  }
  Instant next = emission_at_ < emissions_.size() ? now : engine_->next();
  if (cache_ != nullptr) next = std::min(next, cache_->next());
  next = std::min(next, outlet_.next());
  // Reading hundreds of modelled workers takes some microseconds: not at each of their steps.
  if (now - counted_ < kCountEvery && engine_->next() != Instant::max()) {
    next = std::min(next, counted_ + kCountEvery);
  } else {
    stats_.set_engine(engine_->stats());
    stats_.connections.set(server_->connections());
    counted_ = now;
  }
  if (truth_.pending()) {
    if (now - flushed_ >= kFlushEvery) {
      truth_.flush();
      flushed_ = now;
    }
    next = std::min(next, flushed_ + kFlushEvery);
  }
  return next;
}

}  // namespace assay::endpoint
