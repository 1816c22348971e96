// What HttpTarget does with bytes: sending, receiving, and the deadlines of both.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {
namespace {

// After [DONE] only framing is missing; a server that keeps it back for longer loses the
// connection.
constexpr Duration kFramingMax = 250_ms;
constexpr Duration kStampRefresh = 1_s;
// No server waits so briefly for the next request: one that closes this soon after a reply does so
// behind each.
constexpr Duration kClosedBehindReply = 500_ms;

Outcome outcome_of(int error) { return error == ETIMEDOUT ? Outcome::timed_out : Outcome::reset; }

}  // namespace

void HttpTarget::State::start(std::uint32_t id, const Waiting& next) {
  const auto& [query, due, sent_before] = next;
  Connection& c = *connections[id];
  Slot* const slot = take_slot();
  slot->connection = id;
  slot->exchange.begin(query, due, c.endpoint, requests.streamed(query));
  c.reused = !c.fresh;
  if (c.fresh) {
    c.fresh = false;
    slot->exchange.set_connected(c.connect_time);
  }
  c.active.push_back(slot);
  const Instant now = clock.now();
  last_read = now;
  slot->exchange.set_sent(sent_before.known() ? sent_before : now);
  slot->sent_told = sent_before.known();
  int error = 0;
  bool sound = true;
  if (c.http2) {
    const auto request = requests.fill_http2(query, c.endpoint, options.run_key);
    slot->stream = c.http2->submit(request.fields, request.body, slot);
    sound = slot->stream >= 0;
    ++begun;
    if (sound && !c.unflushed) {
      c.unflushed = true;
      unflushed.emplace_back(id, c.serial);
    }
  } else {
    c.parser.reset();
    const std::string_view bytes = requests.fill(query, c.endpoint, options.run_key);
    if (c.tls) {
      sound = c.tls->write(bytes) && flush(id, &error);
    } else {
      const ssize_t n = net::send_some(c.fd, bytes);
      if (n == static_cast<ssize_t>(bytes.size())) {
        stats.bytes_sent += bytes.size();
        all_sent(c, now);
      } else if (n < 0 && errno != EAGAIN) {
        error = errno;
        sound = false;
      } else {
        const std::size_t taken = n > 0 ? static_cast<std::size_t>(n) : 0;
        stats.bytes_sent += taken;
        c.unsent.assign(bytes.substr(taken));
        watch(id, true);
      }
    }
  }
  if (!sound && crossed_with_the_end(c, *slot)) {
    send_again(id, slot);
    return;
  }
  if (!sound) {
    // Told later: submit() may call nothing of the sink but on_sent.
    fail_later(query, due, c.endpoint, outcome_of(error),
               format("cannot send: {}", error != 0 ? std::strerror(error) : "broken connection"));
    std::erase(c.active, slot);
    free_slot(slot);
    if (!c.busy()) close_connection(id);
    return;
  }
  if (spec.query_timeout != Duration::max()) {
    query_deadlines.push_back({now + spec.query_timeout, slot, slot->serial});
  }
  if (c.http2 && !c.listed && can_take_more(c)) {
    c.listed = true;
    destinations[c.endpoint].idle.push_back(id);
  }
}

// A loop that is behind polls between two handfuls of queries, without time to wait. When it has
// no more it polls again with nothing begun since, or with time.
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
    int error = 0;
    if (flush(id, &error)) continue;
    last_read = clock.now();
    fail_active(id, outcome_of(error), Stamp{.arrival = last_read, .read = last_read},
                format("cannot send: {}", error != 0 ? std::strerror(error) : "broken connection"));
  }
  unflushed.clear();
  begun = begun_at_last_poll = 0;
}

// Moves what HTTP/2 and TLS have to say towards the socket. False when the session is broken.
bool HttpTarget::State::gather(Connection& c) {
  while (c.http2) {
    const std::string_view bytes = c.http2->output();
    if (bytes.empty()) break;
    if (!c.tls) {
      c.unsent.append(bytes);
    } else if (!c.tls->write(bytes)) {
      return false;
    }
  }
  return true;
}

void HttpTarget::State::all_sent(Connection& c, Instant at) {
  // The last ones: those that were just put on the connection.
  std::size_t first = c.active.size();
  while (first > 0 && !c.active[first - 1]->sent_told) --first;
  for (; first < c.active.size(); ++first) {
    Slot& slot = *c.active[first];
    slot.sent_told = true;
    slot.exchange.set_sent(at);
    sink->on_sent(slot.exchange.query(), slot.exchange.due(), at);
  }
}

bool HttpTarget::State::flush(std::uint32_t id, int* errno_out) {
  Connection& c = *connections[id];
  if (!gather(c)) return false;
  Instant at = clock.now();
  for (;;) {
    const std::string_view bytes =
        c.tls ? c.tls->output() : std::string_view(c.unsent).substr(c.unsent_at);
    if (bytes.empty()) break;
    at = clock.now();
    const ssize_t n = net::send_some(c.fd, bytes);
    if (n < 0 && errno == EAGAIN) {
      watch(id, true);
      return true;
    }
    if (n < 0) {
      *errno_out = errno;
      return false;
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
  return true;
}

// Told of bytes alone, on a connection that is open: nothing has to be asked but the bytes.
bool HttpTarget::State::only_readable(const epoll_event& event) const {
  const Connection& c = *connections[static_cast<std::uint32_t>(event.data.u64)];
  return event.events == EPOLLIN && c.state == Connection::State::open &&
         c.fd.get() == static_cast<int>(event.data.u64 >> 32);
}

std::size_t HttpTarget::State::handle_some(Instant until) {
  held_count = 0;
  char* room = held_buffer.data();
  const Instant begun_at = last_read;
  while (ready_at < ready_count && held_count < kHeldMax) {
    const epoll_event& event = ready[static_cast<std::size_t>(ready_at)];
    if (!only_readable(event)) break;
    // To look at them takes about as long as to read them.
    if (held_count >= kShareOfReceiving && last_read + (last_read - begun_at) >= until) break;
    ++ready_at;
    if (!hold(event, room)) continue;
    room += held[held_count - 1].bytes.size();
  }
  for (std::size_t i = 0; i < held_count; ++i) {
    if (i + 1 < held_count) fetch_ahead(held[i + 1]);
    look_at(held[i]);
  }
  if (held_count > 0 || ready_at == ready_count) return held_count;
  handle(ready[static_cast<std::size_t>(ready_at++)]);
  return 1;
}

// Reads once and holds what came. False when nothing did.
bool HttpTarget::State::hold(const epoll_event& event, char* room) {
  const auto id = static_cast<std::uint32_t>(event.data.u64);
  const Connection& c = *connections[id];
  HeldRead& read = held[held_count];
  const net::Received r = receive(c, room, kHeldBytes, &read.at);
  if (r.bytes < 0 && r.error == EAGAIN) return false;
  read.connection = id;
  read.serial = c.serial;
  read.error = r.error;
  read.bytes = {room, static_cast<std::size_t>(std::max<ssize_t>(r.bytes, 0))};
  ++held_count;
  __builtin_prefetch(c.active.data());
  return true;
}

// With thousands of streams the state of each has left the cache when its next event comes.
void HttpTarget::State::fetch_ahead(const HeldRead& read) const {
  const Connection& c = *connections[read.connection];
  if (!c.busy()) return;
  const char* const slot = reinterpret_cast<const char*>(c.active.back());
  for (std::size_t at = 0; at < sizeof(Slot); at += 64) __builtin_prefetch(slot + at);
}

void HttpTarget::State::look_at(const HeldRead& read) {
  Connection& c = *connections[read.connection];
  if (c.serial != read.serial) return;  // closed by what another brought
  if (!on_read(read.connection, read.bytes, read.error, read.at)) return;
  // A read that did not fill its room emptied the socket.
  const bool more = read.bytes.size() == kHeldBytes;
  if (more && c.serial == read.serial) on_readable(read.connection, false);
}

void HttpTarget::State::handle(const epoll_event& event) {
  const auto id = static_cast<std::uint32_t>(event.data.u64);
  const int fd = static_cast<int>(event.data.u64 >> 32);
  Connection& c = *connections[id];
  // The slot may have been closed, and opened anew, since epoll spoke.
  if (c.fd.get() != fd) return;
  if (c.state == Connection::State::connecting) {
    on_connected(id);
    if (c.fd.get() != fd || c.state == Connection::State::connecting) return;
  } else if ((event.events & EPOLLOUT) != 0 && c.want_write) {
    int error = 0;
    if (!flush(id, &error)) {
      last_read = clock.now();
      on_closed(id, error, Stamp{.arrival = last_read, .read = last_read});
      return;
    }
  }
  // The edge that tells of the end may tell of the last bytes too, and none comes after it: then
  // the end has to be read as well.
  constexpr std::uint32_t kEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  const std::uint32_t what = event.events & (EPOLLIN | kEnd);
  if (what != 0) on_readable(id, (what & kEnd) != 0);
}

void HttpTarget::State::on_connected(std::uint32_t id) {
  Connection& c = *connections[id];
  last_read = clock.now();
  const int error = net::connect_result(c.fd);
  if (error == EINPROGRESS || error == EALREADY) return;
  if (error != 0) {
    connect_failed(id, Outcome::connect_failed, std::strerror(error));
    return;
  }
  const Destination& d = destinations[c.endpoint];
  if (!d.url.tls) {
    watch(id, false);
    established(id);
    return;
  }
  c.tls = std::make_unique<net::TlsSession>(*tls, d.url.host);
  c.state = Connection::State::handshaking;
  go_on_with_handshake(id);
}

void HttpTarget::State::go_on_with_handshake(std::uint32_t id) {
  Connection& c = *connections[id];
  const net::TlsSession::Step step = c.tls->handshake();
  int error = 0;
  const bool sent = flush(id, &error);
  if (step == net::TlsSession::Step::failed || !sent) {
    connect_failed(id, Outcome::tls_failed,
                   sent ? c.tls->error() : format("TLS handshake: {}", std::strerror(error)));
    return;
  }
  if (step == net::TlsSession::Step::done) {
    stats.tls_version = c.tls->version();
    established(id);
  }
}

void HttpTarget::State::on_readable(std::uint32_t id, bool to_the_end) {
  Connection& c = *connections[id];
  const int fd = c.fd.get();
  for (;;) {
    Stamp at;
    const net::Received r = receive(c, buffer.data(), kReceiveBytes, &at);
    if (r.bytes < 0 && r.error == EAGAIN) return;
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(r.bytes, 0));
    const bool go_on = on_read(id, {buffer.data(), size}, r.error, at);
    // A read that did not fill the buffer emptied the socket.
    const bool emptied = size < kReceiveBytes && !to_the_end;
    if (!go_on || emptied || c.fd.get() != fd) return;
  }
}

net::Received HttpTarget::State::receive(const Connection& c, char* room, std::size_t size,
                                         Stamp* at) {
  for (;;) {
    const net::Received r =
        c.stamped ? net::receive_stamped(c.fd, room, size) : net::receive(c.fd, room, size);
    last_read = clock.now();
    if (r.bytes < 0 && r.error == EINTR) continue;
    *at = {.arrival = last_read, .read = last_read, .kernel = r.stamp.ns != 0};
    if (at->kernel) at->arrival = stamp_clock.arrival(r.stamp, last_read);
    return r;
  }
}

bool HttpTarget::State::on_read(std::uint32_t id, std::string_view bytes, int error,
                                const Stamp& at) {
  if (bytes.empty()) {
    on_closed(id, error, at);
    return false;
  }
  ++stats.reads;
  stats.reads_stamped += at.kernel ? 1 : 0;
  stats.bytes_received += bytes.size();
  return connections[id]->tls ? on_ciphertext(id, bytes, at) : on_reply_bytes(id, bytes, 0, at);
}

bool HttpTarget::State::on_ciphertext(std::uint32_t id, std::string_view bytes, const Stamp& at) {
  Connection& c = *connections[id];
  c.tls->feed_in_place(bytes);  // all of it is read below, or the connection is closed
  if (c.state == Connection::State::handshaking) {
    go_on_with_handshake(id);
    if (c.state == Connection::State::handshaking) c.tls->keep_input();
    if (c.state != Connection::State::open) return c.state == Connection::State::handshaking;
  }
  const std::uint64_t serial_before = c.serial;
  for (;;) {
    const std::ptrdiff_t n = c.tls->read(plaintext.data(), kReceiveBytes);
    if (n < 0) {
      fail_active(id, Outcome::tls_failed, at, c.tls->error());
      return false;
    }
    if (n == 0) break;
    const std::string_view text(plaintext.data(), static_cast<std::size_t>(n));
    if (!on_reply_bytes(id, text, c.tls->input_left(), at)) return false;
    if (c.serial != serial_before) return false;  // closed, and perhaps opened anew
    if (c.tls->read_empty()) return true;
  }
  if (!c.tls->closed()) return true;
  on_closed(id, 0, at);
  return false;
}

bool HttpTarget::State::on_reply_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                                       const Stamp& at) {
  return connections[id]->http2 ? on_http2_bytes(id, bytes, at)
                                : on_http1_bytes(id, bytes, rest, at);
}

bool HttpTarget::State::on_http1_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                                       const Stamp& at) {
  using ParserState = net::ResponseParser::State;
  Connection& c = *connections[id];
  if (!c.busy()) {
    // Nobody asked: whatever this is, the next reply would be read wrongly behind it.
    close_connection(id);
    return false;
  }
  if (c.reused) destinations[c.endpoint].keeping = Keeping::proven;
  Slot* const slot = c.active.back();
  Exchange& exchange = slot->exchange;
  exchange.on_bytes(bytes.size(), at);
  bool sound = true;
  const ParserState state = c.parser.feed(
      bytes, [&](const net::ResponseHead& head) { exchange.on_head(head); },
      [&](std::string_view piece) {
        if (sound) sound = exchange.on_body(piece, bytes.size() + rest, at, decoder, *sink);
      });
  if (!sound || state == ParserState::failed) {
    const std::string why(sound ? c.parser.error() : exchange.found());
    exchange.cut_short(Outcome::bad_reply, at, why, decoder, *sink);
    query_ended(slot, false);
    return false;
  }
  if (state == ParserState::complete) {
    const bool keep = c.parser.head().keep_alive && bytes.empty() && rest == 0 && !c.want_write &&
                      destinations[c.endpoint].keeping != Keeping::refuted;
    exchange.complete(at, decoder, *sink);
    query_ended(slot, keep);
    return keep;
  }
  watch_framing(*slot, at.read);
  return true;
}

bool HttpTarget::State::on_http2_bytes(std::uint32_t id, std::string_view bytes, const Stamp& at) {
  Connection& c = *connections[id];
  stamp = at;
  const bool sound = c.http2->feed(bytes);
  int error = 0;
  const bool sent = sound && flush(id, &error);  // acknowledgements and window updates
  for (std::size_t i = 0; i < ended.size(); ++i) query_ended(ended[i], sound && sent);
  ended.clear();
  if (c.state != Connection::State::open) return false;
  if (sound && sent) return true;
  fail_active(id, sound ? outcome_of(error) : Outcome::bad_reply, at,
              sound ? std::strerror(error) : c.http2->error());
  return false;
}

void HttpTarget::State::on_head(void* user, const net::ResponseHead& head) {
  Exchange& exchange = static_cast<Slot*>(user)->exchange;
  exchange.on_bytes(0, stamp);
  exchange.on_head(head);
}

void HttpTarget::State::on_body(void* user, std::string_view piece, std::size_t rest) {
  Slot& slot = *static_cast<Slot*>(user);
  slot.exchange.on_bytes(piece.size(), stamp);
  if (!slot.exchange.found().empty() && slot.framing_watched) return;  // given up on
  if (slot.exchange.on_body(piece, rest, stamp, decoder, *sink)) {
    watch_framing(slot, stamp.read);
    return;
  }
  slot.framing_watched = true;
  connections[slot.connection]->http2->cancel(slot.stream);
}

void HttpTarget::State::on_end(void* user, std::uint32_t error) {
  Slot* const slot = static_cast<Slot*>(user);
  if (!slot->exchange.found().empty() && error != 0) {
    slot->exchange.cut_short(Outcome::bad_reply, stamp, std::string(slot->exchange.found()),
                             decoder, *sink);
  } else if (error == 0) {
    slot->exchange.complete(stamp, decoder, *sink);
  } else {
    slot->exchange.cut_short(Outcome::reset, stamp,
                             format("HTTP/2 stream reset: {}", net::http2_error_name(error)),
                             decoder, *sink);
  }
  ended.push_back(slot);
}

void HttpTarget::State::watch_framing(Slot& slot, Instant now) {
  if (!slot.exchange.done_marker() || slot.framing_watched) return;
  slot.framing_watched = true;
  framing_deadlines.push_back({now + kFramingMax, &slot, slot.serial});
}

void HttpTarget::State::fail_active(std::uint32_t id, Outcome outcome, const Stamp& at,
                                    std::string_view why) {
  Connection& c = *connections[id];
  const std::string text(why);
  std::vector<Slot*> victims;
  victims.swap(c.active);  // so that nothing is put on it in answer
  for (Slot* const slot : victims) {
    slot->exchange.cut_short(outcome, at, text, decoder, *sink);
    --in_flight;
    free_slot(slot);
  }
  const std::uint16_t endpoint = c.endpoint;
  close_connection(id);
  open_if_needed(endpoint);
}

void HttpTarget::State::on_closed(std::uint32_t id, int error, const Stamp& at) {
  Connection& c = *connections[id];
  switch (c.state) {
    case Connection::State::closed:
      return;
    case Connection::State::connecting:
    case Connection::State::handshaking:
      connect_failed(id, c.tls ? Outcome::tls_failed : Outcome::connect_failed,
                     error == 0 ? "the peer closed the connection at once" : std::strerror(error));
      return;
    case Connection::State::open:
      break;
  }
  if (!c.busy()) {
    ++stats.connections_lost_idle;
    Keeping& keeping = destinations[c.endpoint].keeping;
    const bool at_once = !c.fresh && at.read - c.idle_since < kClosedBehindReply;
    if (at_once && !c.http2 && keeping == Keeping::unproven) keeping = Keeping::refuted;
    close_connection(id);
    return;
  }
  if (c.http2) {
    fail_active(id, error == 0 ? Outcome::truncated : outcome_of(error), at,
                error == 0 ? "the connection was closed" : std::strerror(error));
    return;
  }
  Slot* const slot = c.active.back();
  if (crossed_with_the_end(c, *slot)) {
    send_again(id, slot);
    return;
  }
  if (error == 0 && c.parser.end_of_input() == net::ResponseParser::State::complete) {
    slot->exchange.complete(at, decoder, *sink);
  } else {
    const std::string detail(error == 0 ? c.parser.error() : std::strerror(error));
    slot->exchange.cut_short(error == 0 ? Outcome::truncated : outcome_of(error), at, detail,
                             decoder, *sink);
  }
  query_ended(slot, false);
}

bool HttpTarget::State::crossed_with_the_end(const Connection& c, const Slot& slot) const {
  return c.reused && !c.http2 && !slot.exchange.reply_started() &&
         destinations[c.endpoint].keeping != Keeping::proven;
}

void HttpTarget::State::send_again(std::uint32_t id, Slot* slot) {
  Connection& c = *connections[id];
  Destination& d = destinations[c.endpoint];
  const std::uint16_t endpoint = c.endpoint;
  const Exchange& exchange = slot->exchange;
  // Its time goes on counting from the first try, which was told already.
  d.waiting.push_front(
      {exchange.query(), exchange.due(), slot->sent_told ? exchange.sent() : Instant::none()});
  d.keeping = Keeping::refuted;
  ++stats.queries_sent_again;
  std::erase(c.active, slot);
  free_slot(slot);
  close_connection(id);
  open_if_needed(endpoint);
}

void HttpTarget::State::query_ended(Slot* slot, bool keep) {
  --in_flight;
  const std::uint32_t id = slot->connection;
  std::erase(connections[id]->active, slot);
  free_slot(slot);
  release(id, keep);
}

// Ends a query whose reply has not ended: with HTTP/1.1 that costs the connection.
void HttpTarget::State::give_up_on(Slot* slot, Outcome outcome, const Stamp& at,
                                   std::string_view why) {
  Connection& c = *connections[slot->connection];
  if (c.http2) {
    c.http2->forget(slot->stream);
    int error = 0;
    flush(slot->connection, &error);
  }
  slot->exchange.cut_short(outcome, at, why, decoder, *sink);
  query_ended(slot, c.http2 != nullptr);
}

void HttpTarget::State::fail_later(const Query& query, Instant due, std::uint16_t endpoint,
                                   Outcome outcome, std::string detail) {
  failures.push_back({query, due, clock.now(), endpoint, outcome, std::move(detail)});
}

void HttpTarget::State::tell_failures() {
  // Telling one may bring on the next, when the sink's owner submits in answer.
  std::vector<Failure> now;
  now.swap(failures);
  for (const Failure& failure : now) {
    Exchange exchange;
    exchange.begin(failure.query, failure.due, failure.endpoint, requests.streamed(failure.query));
    --in_flight;
    exchange.fail(failure.outcome, failure.at, failure.detail, *sink);
  }
}

void HttpTarget::State::expire(Instant now) {
  const auto is_over = [](const QueryDeadline& d) { return d.slot->serial != d.serial; };
  while (!connect_deadlines.empty()) {
    const ConnectDeadline d = connect_deadlines.front();
    const bool over = connections[d.connection]->serial != d.serial;
    if (!over && d.at > now) break;
    connect_deadlines.pop_front();
    if (over) continue;
    connect_failed(d.connection, Outcome::connect_failed,
                   format("no connection within {}", human_duration(spec.connect_timeout)));
  }
  const Stamp at{.arrival = now, .read = now};
  while (!query_deadlines.empty() &&
         (query_deadlines.front().at <= now || is_over(query_deadlines.front()))) {
    const QueryDeadline d = query_deadlines.front();
    query_deadlines.pop_front();
    if (is_over(d)) continue;
    give_up_on(d.slot, Outcome::timed_out, at,
               format("no complete reply within {}", human_duration(spec.query_timeout)));
  }
  while (!framing_deadlines.empty() &&
         (framing_deadlines.front().at <= now || is_over(framing_deadlines.front()))) {
    const QueryDeadline d = framing_deadlines.front();
    framing_deadlines.pop_front();
    if (!is_over(d)) give_up_on(d.slot, Outcome::truncated, at, {});
  }
  if (!failures.empty()) tell_failures();
}

Instant HttpTarget::State::next_deadline() const {
  Instant next = Instant::max();
  if (!connect_deadlines.empty()) next = connect_deadlines.front().at;
  if (!query_deadlines.empty()) next = std::min(next, query_deadlines.front().at);
  if (!framing_deadlines.empty()) next = std::min(next, framing_deadlines.front().at);
  return next;
}

void HttpTarget::State::wait(Instant until) {
  Instant now = clock.now();
  if (now >= stamp_refresh) {
    stamp_clock.refresh();
    stamp_refresh = now + kStampRefresh;
  }
  const Instant wake = failures.empty() ? std::min(until, next_deadline()) : now;
  const std::int64_t ns =
      std::max<std::int64_t>(0, wake - now > 3600_s ? (3600_s).ns : (wake - now).ns);
  const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  const int n = ::epoll_pwait2(epoll.get(), ready.data(), kReadyMax, &timeout, nullptr);
  ready_count = n > 0 ? n : 0;
  ready_at = 0;
  last_read = clock.now();
}

}  // namespace assay::protocol
