#include "sim/sim_target.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace assay::sim {
namespace {

std::size_t index_of(Outcome outcome) { return static_cast<std::size_t>(outcome); }

// The outcomes that end a query before the server has seen it.
bool refuses(Outcome outcome) {
  return outcome == Outcome::connect_failed || outcome == Outcome::tls_failed ||
         outcome == Outcome::http_error;
}

std::string_view detail_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::ok:
      return "";
    case Outcome::connect_failed:
      return "connection refused";
    case Outcome::tls_failed:
      return "certificate has expired";
    case Outcome::reset:
      return "connection reset by peer";
    case Outcome::truncated:
      return "the reply ended before it was complete";
    case Outcome::http_error:
      return "HTTP 500";
    case Outcome::stream_error:
      return "the request was aborted by the server";
    case Outcome::bad_reply:
      return "an event that is not JSON";
    case Outcome::timed_out:
      return "not done within the query's time limit";
    case Outcome::cancelled:
      return "cancelled";
    case Outcome::over_memory:
      return "reply over the memory budget";
  }
  CHECK(false && "no such Outcome");
}

}  // namespace

SimTarget::SimTarget(Engine& engine, SimClock& clock, AskOf ask, const SimTargetOptions& options)
    : engine_(engine), clock_(clock), ask_(std::move(ask)), options_(options) {
  CHECK(options.faults[index_of(Outcome::cancelled)] == 0);
  CHECK(options.faults[index_of(Outcome::timed_out)] == 0 ||
        options.query_timeout < Duration::max());
}

std::uint64_t SimTarget::id_of(const Flight& flight) {
  return std::uint64_t{flight.generation} << 32 | flight.slot;
}

SimTarget::Flight* SimTarget::find(Key key) {
  if (key.slot >= flights_.size()) return nullptr;
  Flight& flight = flights_[key.slot];
  return flight.open && flight.generation == key.generation ? &flight : nullptr;
}

SimTarget::Flight& SimTarget::open_flight() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flights_.size()));
    flights_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  Flight& flight = flights_[slot];
  flight = Flight{.slot = slot, .generation = flight.generation + 1, .open = true};
  ++in_flight_;
  return flight;
}

void SimTarget::draw_fault(Flight& flight) {
  // Each query has its own generator: its draws do not depend on how many another has made.
  Rng rng(options_.seed ^ submitted_++ * 0x9e3779b97f4a7c15);
  double at = rng.uniform();
  for (std::size_t i = 0; i < options_.faults.size(); ++i) {
    if (at < options_.faults[i]) {
      flight.fault = static_cast<Outcome>(i);
      break;
    }
    at -= options_.faults[i];
  }
  ++drawn_[index_of(flight.fault)];
  flight.fault_at = static_cast<std::uint32_t>(rng.below(flight.planned));
}

void SimTarget::submit(const Query& query, Instant due, EventSink& sink) {
  Request request = ask_(query);
  CHECK(request.output_tokens >= 1);
  Flight& flight = open_flight();
  const Instant now = clock_.now();
  flight.event.query = query;
  flight.event.due = due;
  flight.event.streamed = options_.stream;
  flight.prompt_tokens = request.prompt_tokens;
  flight.planned = request.output_tokens;
  draw_fault(flight);
  const bool reaches =
      flight.fault != Outcome::connect_failed && flight.fault != Outcome::tls_failed;
  if (reaches) {
    flight.event.sent = now;
    sink.on_sent(query, due, now);
  }
  if (refuses(flight.fault)) {
    refused_.push_back({flight.slot, flight.generation});
    return;
  }
  if (options_.query_timeout < Duration::max()) {
    deadlines_.push_back({now + options_.query_timeout, {flight.slot, flight.generation}});
  }
  request.id = id_of(flight);
  engine_.admit(request, now);
}

void SimTarget::poll(Instant until, EventSink& sink) {
  const std::uint64_t told = told_;
  for (const Key key : std::exchange(refused_, {})) {
    Flight* const flight = find(key);
    if (flight == nullptr) continue;
    if (flight->fault == Outcome::http_error) {
      flight->event.http_status = 500;
      flight->event.first_byte = clock_.now();
    }
    end(*flight, flight->fault, clock_.now(), detail_of(flight->fault), sink);
  }
  while (told_ == told) {
    const Instant next = std::min(engine_.next(), next_deadline());
    if (next > until || next == Instant::max()) {
      // An engine with tokens left must have a next instant: otherwise time would stand still.
      CHECK(next < Instant::max() || in_flight_ == 0 || until < Instant::max());
      if (until < Instant::max()) clock_.sleep_until(until);
      return;
    }
    clock_.sleep_until(next);
    emissions_.clear();
    engine_.advance(clock_.now(), emissions_);
    for (const Emission& emission : emissions_) on_emission(emission, sink);
    expire(clock_.now(), sink);
  }
}

void SimTarget::on_emission(const Emission& emission, EventSink& sink) {
  Flight* const found = find({static_cast<std::uint32_t>(emission.request),
                              static_cast<std::uint32_t>(emission.request >> 32)});
  if (found == nullptr || found->silent) return;
  Flight& flight = *found;
  flight.cached = std::max(flight.cached, emission.cached);
  const bool whole = options_.stream || emission.last;
  if (!whole) {
    flight.made += emission.tokens;
    return;
  }
  if (strike(flight, emission, sink)) return;
  if (!flight.event.first_byte.known()) {
    flight.event.first_byte = emission.at;
    flight.event.http_status = 200;
  }
  const std::uint32_t tokens = options_.stream ? emission.tokens : flight.made + emission.tokens;
  flight.made = options_.stream ? flight.made + emission.tokens : tokens;
  fragment(flight, tokens, emission.at, !emission.last || !options_.stream, sink);
  if (emission.last) finish(flight, emission.at, sink);
}

bool SimTarget::strike(Flight& flight, const Emission& emission, EventSink& sink) {
  const bool now = !options_.stream || flight.made + emission.tokens > flight.fault_at;
  if (flight.fault == Outcome::ok || !now) return false;
  engine_.cancel(emission.request, emission.at);
  if (flight.fault == Outcome::timed_out) {
    flight.silent = true;  // until its deadline
    return true;
  }
  if (flight.fault == Outcome::stream_error && options_.stream) {
    mark(flight, Category::error, emission.at, true, sink);
  }
  end(flight, flight.fault, emission.at, detail_of(flight.fault), sink);
  return true;
}

void SimTarget::mark(Flight& flight, Category category, Instant at, bool last_of_read,
                     EventSink& sink) {
  Event& event = flight.event;
  if (!event.first_byte.known()) event.first_byte = at;
  if (!event.first_event.known()) event.first_event = at;
  ++event.stream_events;
  const StreamEvent told{
      .category = category, .shares_read = !last_of_read, .arrival = at, .read = at};
  sink.on_stream_event(event.query, told, {});
  ++told_;
}

void SimTarget::fragment(Flight& flight, std::uint32_t tokens, Instant at, bool last_of_read,
                         EventSink& sink) {
  Event& event = flight.event;
  const std::uint32_t bytes = tokens * options_.bytes_per_token;
  if (text_.size() < bytes) text_.resize(bytes, 'a');
  if (!event.first_event.known() && options_.stream) event.first_event = at;
  if (!event.first_token.known()) {
    event.first_token = at;
    event.first_visible = at;
    event.first_fragment_bytes = bytes;
  }
  event.last_token = at;
  ++event.fragments;
  if (options_.stream) ++event.stream_events;
  event.output_bytes += bytes;
  event.received_bytes += bytes;
  const StreamEvent told{.category = Category::text,
                         .shares_read = !last_of_read,
                         .bytes = bytes,
                         .arrival = at,
                         .read = at};
  sink.on_stream_event(event.query, told, std::string_view(text_).substr(0, bytes));
  ++told_;
}

void SimTarget::finish(Flight& flight, Instant at, EventSink& sink) {
  Event& event = flight.event;
  event.finish = FinishReason::stop;
  if (options_.stream) {
    mark(flight, Category::finish, at, false, sink);
    if (options_.report_usage) mark(flight, Category::usage, at, false, sink);
    mark(flight, Category::marker, at, true, sink);
    event.done_marker = true;
  }
  if (options_.report_usage) {
    event.usage.prompt_tokens = static_cast<std::int32_t>(flight.prompt_tokens);
    event.usage.completion_tokens = static_cast<std::int32_t>(flight.made);
    if (options_.report_cached) {
      event.usage.cached_tokens = static_cast<std::int32_t>(flight.cached);
    }
  }
  end(flight, Outcome::ok, at, "", sink);
}

void SimTarget::end(Flight& flight, Outcome outcome, Instant at, std::string_view detail,
                    EventSink& sink) {
  flight.event.outcome = outcome;
  flight.event.done = at;
  const Event event = flight.event;
  flight.open = false;
  free_.push_back(flight.slot);
  --in_flight_;
  drop_old_deadlines();
  ++told_;
  sink.on_done(event, detail);
}

void SimTarget::drop_old_deadlines() {
  while (!deadlines_.empty() && find(deadlines_.front().key) == nullptr) deadlines_.pop_front();
}

void SimTarget::expire(Instant now, EventSink& sink) {
  while (next_deadline() <= now) {
    Flight& flight = *find(deadlines_.front().key);
    engine_.cancel(id_of(flight), now);
    end(flight, Outcome::timed_out, now, detail_of(Outcome::timed_out), sink);
  }
}

void SimTarget::cancel_all(EventSink& sink) {
  for (Flight& flight : flights_) {
    if (!flight.open) continue;
    engine_.cancel(id_of(flight), clock_.now());
    end(flight, Outcome::cancelled, clock_.now(), detail_of(Outcome::cancelled), sink);
  }
  refused_.clear();
}

}  // namespace assay::sim
