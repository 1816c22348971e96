#include "protocol/http_target.h"

#include "base/check.h"
#include "base/format.h"
#include "domain/quiet_sink.h"
#include "protocol/codec.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {

HttpTarget::HttpTarget(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpTarget::~HttpTarget() = default;

Result<std::unique_ptr<HttpTarget>> HttpTarget::create(const Plan& plan,
                                                       const std::vector<PlannedDataset>& datasets,
                                                       const Endpoints& endpoints,
                                                       const HttpTargetOptions& options,
                                                       const Clock& clock) {
  ASSIGN_OR_RETURN(PreparedBodies bodies, PreparedBodies::make(plan, datasets, endpoints));
  return create(plan, std::make_shared<const PreparedBodies>(std::move(bodies)), endpoints, options,
                clock);
}

Result<std::unique_ptr<HttpTarget>> HttpTarget::create(const Plan& plan,
                                                       std::shared_ptr<const PreparedBodies> bodies,
                                                       const Endpoints& endpoints,
                                                       const HttpTargetOptions& options,
                                                       const Clock& clock) {
  auto state = std::make_unique<State>(endpoints, options, clock);
  state->shared.requests = PreparedRequests(std::move(bodies), plan);
  TRY(state->open_destinations());
  for (const std::uint16_t endpoint : options.endpoint_of_phase) {
    CHECK(endpoint < state->destinations.size());
  }
  CHECK(options.endpoint_of_phase.empty() ||
        options.endpoint_of_phase.size() == plan.phases.size());
  return std::unique_ptr<HttpTarget>(new HttpTarget(std::move(state)));
}

Result<void> HttpTarget::connect_ahead(std::uint32_t count) {
  State& s = *state_;
  QuietSink silent;  // no query is under way, so there is no event to report
  const auto endpoints = static_cast<std::uint32_t>(s.destinations.size());
  const std::uint32_t queries = std::max(1U, (count + endpoints - 1) / endpoints);
  const Instant limit = s.clock.now() + s.spec.connect_timeout + 1_s;
  const auto in_time = [&] { return s.clock.now() < limit; };
  for (std::uint16_t e = 0; e < endpoints; ++e) {
    Destination& d = s.destinations[e];
    s.connect_error.clear();
    const auto more = [&] {
      const std::uint32_t wanted = (queries + d.queries_each - 1) / d.queries_each;
      return d.open < wanted && s.open_total < s.stats.connections_max && s.connect_error.empty();
    };
    // The first connection shows whether the endpoint speaks HTTP/2, and so how many are needed.
    // With fewer connections than endpoints it takes the place of another endpoint's idle one.
    if (d.open == 0 && s.open_total >= s.stats.connections_max) s.close_an_idle_connection();
    if (more()) s.open_connection(e);
    while (d.connecting > 0 && in_time()) poll(limit, silent);
    while (more() && in_time()) {
      while (more() && d.connecting < kConnectingMax) s.open_connection(e);
      poll(limit, silent);
    }
    while (d.connecting > 0 && in_time()) poll(limit, silent);
    s.wake_watch.forget();  // another thread may continue from here
    if (d.idle.empty()) {
      return Error{Code::refused, format("cannot reach '{}': {}{}", d.name, s.connect_error,
                                         connect_door(s.connect_error))};
    }
  }
  return {};
}

void HttpTarget::get_ahead(Clock& clock, Instant limit) {
  state_->shared.requests.get_ahead(clock, limit);
}

void HttpTarget::submit(const Query& query, Instant due, EventSink& sink) {
  State& s = *state_;
  s.shared.sink = &sink;
  ++s.in_flight;
  auto endpoint = static_cast<std::uint16_t>(s.next_endpoint);
  if (!s.options.endpoint_of_phase.empty()) {
    endpoint = s.options.endpoint_of_phase[query.phase];
  } else if (++s.next_endpoint == s.destinations.size()) {
    s.next_endpoint = 0;
  }
  if (!s.held_sessions.empty()) {
    if (const auto id = s.take_held(query.sample)) {
      s.start(*id, {query, due});
      return;
    }
  }
  Destination& d = s.destinations[endpoint];
  if (d.waiting.empty()) {
    if (const auto id = s.take_free(d, s.last_read)) {
      s.start(*id, {query, due});
      return;
    }
  }
  d.waiting.push_back({query, due});
  s.open_if_needed(endpoint);
  if (d.waiting.size() > d.connecting) ++s.stats.queued_for_connection;
}

void HttpTarget::poll(Instant until, EventSink& sink) {
  State& s = *state_;
  s.shared.sink = &sink;
  if (!s.unflushed.empty()) {
    if (s.more_to_begin(until)) return;
    s.flush_requests();
  }
  if (s.ready_at == s.ready_count) s.wait(until);
  for (std::size_t handled = 0; s.ready_at < s.ready_count;) {
    handled += s.handle_some(until);
    if (handled >= kShareOfReceiving && s.last_read >= until) break;
  }
  s.expire(s.last_read);
}

std::size_t HttpTarget::in_flight() const { return state_->in_flight; }

void HttpTarget::cancel_all(EventSink& sink) {
  State& s = *state_;
  s.shared.sink = &sink;
  const Instant now = s.clock.now();
  const Stamp stamp{.arrival = now, .read = now};
  for (std::uint16_t e = 0; e < s.destinations.size(); ++e) {
    for (const Waiting& w : s.destinations[e].waiting) {
      s.fail_later(w.query, w.due, e, Outcome::cancelled, "cancelled before it was sent");
    }
    s.destinations[e].waiting.clear();
  }
  for (std::uint32_t id = 0; id < s.connections.size(); ++id) {
    while (s.connections[id]->busy()) {
      s.give_up_on(s.connections[id]->lane.active.back(), Outcome::cancelled, stamp,
                   "cancelled by us");
    }
  }
  s.tell_failures();
  CHECK(s.in_flight == 0);
}

TransportStats HttpTarget::stats() const {
  State& s = *state_;
  TransportStats out = s.stats;
  out.requests_made_late = s.shared.requests.made_here();
  out.stamp_error_max = s.shared.stamp_clock.error_max();
  out.stamp_slew_max = s.shared.stamp_clock.slew_max();
  return out;
}

}  // namespace assay::protocol
