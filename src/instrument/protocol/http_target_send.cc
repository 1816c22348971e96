// HttpTarget's sending: a query on its connection (start), bytes that the kernel did not take at
// once (flush), and queries that go out again.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {

void HttpTarget::State::start(std::uint32_t id, Waiting next) {
  const auto& [query, due, sent_before, unprocessed, job] = next;
  Connection& c = *connections[id];
  Slot* const slot = take_slot();
  slot->connection = id;
  slot->exchange.begin(query, due, c.lane.endpoint, shared.requests.asked(query), blot());
  c.doubted = !c.fresh && !c.transport->announces_end();
  if (c.fresh) {
    c.fresh = false;
    slot->exchange.set_connected(c.connect_time);
  }
  c.lane.active.push_back(slot);
  const Instant now = clock.now();
  last_read = now;
  const Instant sent = sent_before.known() ? sent_before : now;
  slot->exchange.set_sent(sent, sent);
  slot->sent_told = sent_before.known();
  slot->unprocessed = unprocessed;
  slot->job = std::move(next.job);
  std::optional<int> error;  // as flush()
  Pieces request;
  const bool in_one = c.tls != nullptr;
  if (!c.transport->begin(*slot, now, in_one, &request)) {
    error = 0;
  } else if (request.count == 0) {
    ++begun;
    if (!c.unflushed) unflushed.emplace_back(id, c.serial);
    c.unflushed = true;
  } else if (in_one) {
    error = c.tls->write(request.parts[0]) ? flush(id) : 0;
  } else {
    error = send_pieces(id, request, now);
  }
  if (error && crossed_with_the_end(c, *slot)) return send_again(id, slot);
  if (error) {
    // Report it later: submit() may call only on_sent of the sink.
    fail_later(
        query, due, c.lane.endpoint, outcome_of(*error),
        format("cannot send: {}", *error != 0 ? std::strerror(*error) : "broken connection"));
    take_off(c, slot);
    if (!c.busy()) close_connection(id);
    return;
  }
  if (spec.query_timeout != Duration::max()) {
    // A job that goes on has its time from its first connection.
    if (slot->job != nullptr) {
      add_in_order(query_deadlines, {sent + spec.query_timeout, slot, slot->serial});
    } else {
      query_deadlines.push_back({now + spec.query_timeout, slot, slot->serial});
    }
  }
  if (!c.listed && can_take_more(c)) {
    c.listed = true;
    destinations[c.lane.endpoint].idle.push_back(id);
  }
}

// Bytes that the kernel does not take now are copied and wait.
std::optional<int> HttpTarget::State::send_pieces(std::uint32_t id, const Pieces& request,
                                                  Instant now) {
  Connection& c = *connections[id];
  const ssize_t n = request.count == 1 ? net::send_some(c.fd, request.parts[0])
                                       : net::send_some(c.fd, request.all());
  if (n < 0 && errno != EAGAIN) return errno;
  auto taken = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
  stats.bytes_sent += taken;
  for (const std::string_view part : request.all()) {
    const std::size_t gone = std::min(taken, part.size());
    c.unsent.append(part.substr(gone));
    taken -= gone;
  }
  c.unsent.empty() ? all_sent(c, now) : watch(id, true);
  return std::nullopt;
}

// A late loop polls between two groups of queries, without time to wait. Without further queries it
// polls again with none begun since, or with time.
bool HttpTarget::State::more_to_begin(Instant until) {
  const bool growing = begun > begun_at_last_poll && begun < kBegunMax;
  begun_at_last_poll = begun;
  return growing && until <= clock.now();
}

void HttpTarget::State::flush_requests() {
  for (std::size_t i = 0; i < unflushed.size(); ++i) {
    const auto [id, serial_then] = unflushed[i];
    Connection& c = *connections[id];
    if (c.serial != serial_then) continue;  // closed since
    c.unflushed = false;
    const std::optional<int> error = flush(id);
    settle(id, true, error, {.arrival = last_read, .read = last_read});
  }
  unflushed.clear();
  begun = begun_at_last_poll = 0;
}

std::optional<int> HttpTarget::State::flush(std::uint32_t id) {
  Connection& c = *connections[id];
  Instant at = last_read = clock.now();
  for (;;) {
    if (!gather(c)) return 0;
    const std::string_view bytes = unsent_of(c);
    if (bytes.empty()) break;
    at = last_read = clock.now();
    const ssize_t n = net::send_some(c.fd, bytes);
    if (n < 0) {
      const bool later = errno == EAGAIN;
      if (later) watch(id, true);
      if (later) return std::nullopt;
      // The peer's last bytes before its close are still unread, and say more: a GOAWAY.
      const bool gone = errno == EPIPE || errno == ECONNRESET;
      if (gone && c.transport && c.transport->announces_end()) return std::nullopt;
      return errno;
    }
    const auto taken = static_cast<std::size_t>(n);
    stats.bytes_sent += taken;
    if (c.tls) {
      c.tls->consume(taken);
    } else {
      c.unsent_at += taken;
    }
  }
  c.unsent.clear();
  c.unsent_at = 0;
  watch(id, false);
  all_sent(c, at);
  return std::nullopt;
}

// Moves the output of the transport towards the socket. False when TLS is broken. Output for a peer
// that does not read stays in the transport, which limits it.
bool HttpTarget::State::gather(Connection& c) {
  if (c.unsent_at > kUnsentMax) {
    c.unsent.erase(0, c.unsent_at);
    c.unsent_at = 0;
  }
  while (c.transport && unsent_of(c).size() < kUnsentMax) {
    const std::string_view bytes = c.transport->output();
    if (bytes.empty()) break;
    if (!c.tls) {
      c.unsent.append(bytes);
    } else if (!c.tls->write(bytes)) {
      return false;
    }
  }
  return true;
}

std::string_view HttpTarget::State::unsent_of(Connection& c) {
  return c.tls ? c.tls->output() : std::string_view(c.unsent).substr(c.unsent_at);
}

void HttpTarget::State::all_sent(Connection& c, Instant at) {
  Instant after = Instant::none();
  for (Slot* const slot : c.lane.going_out) {
    if (slot->sent_told) continue;
    if (!after.known()) after = last_read = clock.now();
    slot->sent_told = true;
    // An answer that came before the request was out is not from before it: the query counts as
    // sent when its first bytes went out.
    if (!slot->exchange.answered()) slot->exchange.set_sent(at, after);
    shared.sink->on_sent(slot->exchange.query(), slot->exchange.due(), slot->exchange.sent());
  }
  c.lane.going_out.clear();
}

bool HttpTarget::State::crossed_with_the_end(const Connection& c, const Slot& slot) const {
  return c.doubted && !slot.exchange.reply_started() &&
         destinations[c.lane.endpoint].keeping != Keeping::proven;
}

void HttpTarget::State::send_again(std::uint32_t id, Slot* slot) {
  Connection& c = *connections[id];
  const std::uint16_t endpoint = c.lane.endpoint;
  wait_again(*slot);
  destinations[endpoint].keeping = Keeping::refuted;
  ++stats.queries_sent_again;
  take_off(c, slot);
  close_connection(id);
  open_if_needed(endpoint);
}

void HttpTarget::State::send_unprocessed_again(Slot* slot, bool keep) {
  const std::uint32_t id = slot->connection;
  Connection& c = *connections[id];
  if (slot->job == nullptr) ++stats.queries_unprocessed;
  c.lane.remove(slot);
  c.transport->unprocessed(*slot);
  wait_again(*slot);
  free_slot(slot);
  release(id, keep);
}

// Its time still counts from the first try, which was reported already.
void HttpTarget::State::wait_again(Slot& slot) {
  const Exchange& exchange = slot.exchange;
  if (slot.job != nullptr && slot.job->id.empty()) slot.job.reset();  // it was not begun
  destinations[connections[slot.connection]->lane.endpoint].waiting.push_front(
      {.query = exchange.query(),
       .due = exchange.due(),
       .sent = slot.sent_told ? exchange.sent() : Instant::none(),
       .unprocessed = slot.unprocessed,
       .job = std::move(slot.job)});
}

}  // namespace assay::protocol
