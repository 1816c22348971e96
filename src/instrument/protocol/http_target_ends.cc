// How HttpTarget's queries and connections end without a reply: deadlines, closed connections, and
// failures that are reported later.

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {
namespace {

// No server waits such a short time for the next request: one that closes this soon after a reply
// closes after every reply.
constexpr Duration kClosedBehindReply = 500_ms;

}  // namespace

void HttpTarget::State::expire(Instant now) {
  const Stamp at{.arrival = now, .read = now};
  const auto is_over = [](const QueryDeadline& d) { return d.slot->serial != d.serial; };
  while (!connect_deadlines.empty()) {
    const ConnectDeadline d = connect_deadlines.front();
    const Connection& c = *connections[d.connection];
    const bool over = c.awaited_until != d.at;
    if (!over && d.at > now) break;
    connect_deadlines.pop_front();
    if (!over) give_up_connecting(d.connection, at);
  }
  const auto each_due = [&](std::deque<QueryDeadline>& deadlines, const auto& end) {
    while (!deadlines.empty() && (deadlines.front().at <= now || is_over(deadlines.front()))) {
      const QueryDeadline d = deadlines.front();
      deadlines.pop_front();
      if (!is_over(d)) end(d.slot);
    }
  };
  const auto settle = [&](Slot* slot) { give_up_on(slot, Outcome::truncated, at, {}); };
  each_due(query_deadlines, [&](Slot* slot) {
    give_up_on(slot, Outcome::timed_out, at,
               format("no complete reply within {}", human_duration(spec.query_timeout)));
  });
  each_due(shared.paced, [&](Slot* slot) { go_on(slot, at); });
  each_due(shared.framing_deadlines, settle);
  each_due(shared.failed_deadlines, settle);
  tell_failures();
}

void HttpTarget::State::go_on(Slot* slot, const Stamp& at) {
  const std::uint32_t id = slot->connection;
  connections[id]->transport->go_on(*slot, at.read);
  settle(id, true, flush(id), at);
}

// The connection was not open in time, or its peer allows no query on it.
void HttpTarget::State::give_up_connecting(std::uint32_t id, const Stamp& at) {
  const Connection& c = *connections[id];
  const std::string within = human_duration(spec.connect_timeout);
  std::string why =
      c.transport ? c.transport->refusal(within) : format("no connection within {}", within);
  if (c.state != Connection::State::open) {
    return connect_failed(id, Outcome::connect_failed, std::move(why));
  }
  std::vector<std::pair<Slot*, std::uint64_t>> waiting;
  for (Slot* const slot : c.lane.active) {
    if (!slot->out) waiting.emplace_back(slot, slot->serial);
  }
  for (const auto& [slot, serial_then] : waiting) {
    if (slot->serial == serial_then) give_up_on(slot, Outcome::connect_failed, at, why);
  }
}

// Ends a query before its reply has ended, which may cost the connection.
void HttpTarget::State::give_up_on(Slot* slot, Outcome outcome, const Stamp& at,
                                   std::string_view why) {
  Connection& c = *connections[slot->connection];
  const bool keep = c.transport->cancel(*slot) && !flush(slot->connection);
  // What went out may have ended other streams of the connection. They have had their on_done, so
  // they must be gone before anything else ends them.
  remove_ended(keep);
  slot->exchange.cut_short(outcome, at, why, shared.decoder, *shared.sink);
  query_ended(slot, keep);
}

void HttpTarget::State::on_closed(std::uint32_t id, int error, const Stamp& at) {
  const Connection& c = *connections[id];
  if (c.state == Connection::State::handshaking) {
    return connect_failed(
        id, Outcome::tls_failed,
        error == 0 ? "the peer closed the connection at once" : std::strerror(error));
  }
  if (c.state == Connection::State::beginning) {
    return connect_failed(id, Outcome::connect_failed,
                          c.transport->ending(Transport::Side::reading, error).why);
  }
  if (c.busy()) {
    end_connection(id, Transport::Side::reading, error, at);
    return;
  }
  ++stats.connections_lost_idle;
  Keeping& keeping = destinations[c.lane.endpoint].keeping;
  const bool at_once = !c.fresh && at.read - c.idle_since < kClosedBehindReply;
  if (at_once && !c.transport->announces_end() && keeping == Keeping::unproven) {
    keeping = Keeping::refuted;
  }
  close_connection(id);
}

void HttpTarget::State::end_connection(std::uint32_t id, Transport::Side side, int error,
                                       const Stamp& at) {
  const Connection& c = *connections[id];
  if (c.busy() && c.transport->goes_on(*c.lane.active[0], at)) {
    remove_ended(false);
    return;
  }
  if (c.busy() && crossed_with_the_end(c, *c.lane.active[0])) {
    send_again(id, c.lane.active[0]);
    return;
  }
  end_active(id, c.transport->ending(side, error), at);
}

void HttpTarget::State::end_active(std::uint32_t id, const Ending& ending, const Stamp& at) {
  Connection& c = *connections[id];
  std::vector<Slot*> victims;
  victims.swap(c.lane.active);  // so that no callback puts a query on it
  c.lane.going_out.clear();
  for (Slot* const slot : victims) {
    if (ending.complete) {
      slot->exchange.complete(at, shared.decoder, *shared.sink);
    } else {
      slot->exchange.cut_short(ending.outcome, at, ending.why, shared.decoder, *shared.sink);
    }
    --in_flight;
    free_slot(slot);
  }
  const std::uint16_t endpoint = c.lane.endpoint;
  close_connection(id);
  open_if_needed(endpoint);
}

void HttpTarget::State::fail_later(const Query& query, Instant due, std::uint16_t endpoint,
                                   Outcome outcome, std::string detail) {
  failures.push_back({query, due, clock.now(), endpoint, outcome, std::move(detail)});
}

void HttpTarget::State::tell_failures() {
  // A report may cause another failure, when the sink's owner submits in answer.
  std::vector<Failure> now;
  now.swap(failures);
  for (const Failure& failure : now) {
    Exchange exchange;
    exchange.begin(failure.query, failure.due, failure.endpoint,
                   shared.requests.asked(failure.query), blot());
    --in_flight;
    exchange.fail(failure.outcome, failure.at, failure.detail, *shared.sink);
  }
}

}  // namespace assay::protocol
