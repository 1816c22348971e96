// HttpTarget's receiving: reads, and the effect of their bytes on the current query.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {
namespace {

// After [DONE] only framing is missing; a server that holds it back for longer loses the
// connection. So does a server whose failed reply goes on: the target waits a little longer for its
// text.
constexpr Duration kFramingMax = 250_ms;
constexpr Duration kFailedMax = 1_s;

}  // namespace

// epoll reports only bytes, on an open connection: only the read remains to be done.
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
    // Handling them takes about as long as reading them.
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

// Reads once and holds the bytes. False when there were none.
bool HttpTarget::State::hold(const epoll_event& event, char* room) {
  const auto id = static_cast<std::uint32_t>(event.data.u64);
  Connection& c = *connections[id];
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

// With thousands of streams each one's state has left the cache when its next event comes.
void HttpTarget::State::fetch_ahead(const HeldRead& read) const {
  const Connection& c = *connections[read.connection];
  if (!c.busy()) return;
  const char* const slot = reinterpret_cast<const char*>(c.active[0]);
  for (std::size_t at = 0; at < sizeof(Slot); at += 64) __builtin_prefetch(slot + at);
}

void HttpTarget::State::look_at(const HeldRead& read) {
  Connection& c = *connections[read.connection];
  if (c.serial != read.serial) return;  // closed by the handling of another read
  on_read(read.connection, read.bytes, read.error, read.at);
  // A read that did not fill its buffer emptied the socket.
  const bool more = read.bytes.size() == kHeldBytes;
  if (more && c.serial == read.serial) on_readable(read.connection, false);
}

void HttpTarget::State::handle(const epoll_event& event) {
  const auto id = static_cast<std::uint32_t>(event.data.u64);
  const int fd = static_cast<int>(event.data.u64 >> 32);
  Connection& c = *connections[id];
  // The slot may have been closed and reopened since epoll's event.
  if (c.fd.get() != fd) return;
  if (c.state == Connection::State::connecting) {
    on_connected(id);
    if (c.fd.get() != fd || c.state == Connection::State::connecting) return;
  }
  // One edge may announce both the last bytes and the end, and no other edge follows: then the end
  // must be read too. A server may answer and close before it has read the request: read its answer
  // before the failed send is reported.
  constexpr std::uint32_t kEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  const std::uint32_t what = event.events & (EPOLLIN | kEnd);
  const std::uint64_t serial_before = c.serial;
  if (what != 0) on_readable(id, (what & kEnd) != 0);
  if ((event.events & EPOLLOUT) == 0 || !c.want_write || c.serial != serial_before) return;
  int error = 0;
  const bool sent = flush(id, &error);
  last_read = clock.now();
  const Stamp at{.arrival = last_read, .read = last_read};
  if (c.http2) {
    settle_http2(id, sent, error, at);
  } else if (!sent) {
    on_closed(id, error, at);
  }
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
  const Connection& c = *connections[id];
  const std::uint64_t serial_before = c.serial;
  for (;;) {
    Stamp at;
    const net::Received r = receive(*connections[id], buffer.data(), kReceiveBytes, &at);
    if (r.bytes < 0 && r.error == EAGAIN) return;
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(r.bytes, 0));
    on_read(id, {buffer.data(), size}, r.error, at);
    // A read that did not fill the buffer emptied the socket.
    const bool emptied = size < kReceiveBytes && !to_the_end;
    if (emptied || c.serial != serial_before) return;
  }
}

net::Received HttpTarget::State::receive(Connection& c, char* room, std::size_t size, Stamp* at) {
  for (;;) {
    const Instant before = last_read;
    const net::Received r =
        c.stamped ? net::receive_stamped(c.fd, room, size) : net::receive(c.fd, room, size);
    last_read = clock.now();
    if (r.bytes < 0 && r.error == EINTR) continue;
    *at = {.arrival = last_read,
           .read = last_read,
           .kernel = r.stamp.ns != 0,
           .emptied = r.bytes < static_cast<ssize_t>(size),
           .not_before = std::max(c.emptied_at, quiet_before),
           .wake = &wake_watch};
    // Use the time before the read, not after: bytes that come between are the next read's.
    if (at->emptied) c.emptied_at = before;
    if (at->kernel) {
      const Instant arrival = stamp_clock.arrival(r.stamp, at->not_before, last_read);
      at->kernel = arrival.known();
      if (at->kernel) at->arrival = arrival;
    }
    return r;
  }
}

void HttpTarget::State::on_read(std::uint32_t id, std::string_view bytes, int error,
                                const Stamp& at) {
  if (bytes.empty()) {
    on_closed(id, error, at);
    return;
  }
  ++stats.reads;
  stats.reads_stamped += at.kernel ? 1 : 0;
  stats.bytes_received += bytes.size();
  connections[id]->tls ? on_ciphertext(id, bytes, at) : on_reply_bytes(id, bytes, 0, at);
}

void HttpTarget::State::on_ciphertext(std::uint32_t id, std::string_view bytes, const Stamp& at) {
  Connection& c = *connections[id];
  const std::uint64_t serial_before = c.serial;
  c.tls->feed_in_place(bytes);  // all of it is read below, or the connection is closed
  if (c.state == Connection::State::handshaking && !c.http2) {
    go_on_with_handshake(id);
    if (c.serial != serial_before) return;  // closed, and perhaps reopened
    if (c.state == Connection::State::handshaking && !c.http2) {
      c.tls->keep_input();
      return;
    }
  }
  for (;;) {
    const std::ptrdiff_t n = c.tls->read(plaintext.data(), kReceiveBytes);
    if (n < 0) {
      fail_active(id, Outcome::tls_failed, at, c.tls->error());
      return;
    }
    if (n == 0) break;
    const std::string_view text(plaintext.data(), static_cast<std::size_t>(n));
    on_reply_bytes(id, text, c.tls->input_left(), at);
    if (c.serial != serial_before || c.tls->read_empty()) return;
  }
  if (c.tls->closed()) on_closed(id, 0, at);
}

void HttpTarget::State::on_reply_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                                       const Stamp& at) {
  connections[id]->http2 ? on_http2_bytes(id, bytes, at) : on_http1_bytes(id, bytes, rest, at);
}

void HttpTarget::State::on_http1_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                                       const Stamp& at) {
  using ParserState = net::ResponseParser::State;
  Connection& c = *connections[id];
  if (!c.busy()) {
    // Bytes without a request: with them in the stream, the next reply would be read wrongly.
    close_connection(id);
    return;
  }
  if (c.reused) destinations[c.endpoint].keeping = Keeping::proven;
  Slot* const slot = c.asked();
  Exchange& exchange = slot->exchange;
  if (at.arrival < c.begun_at && !exchange.reply_started()) {
    on_early_bytes(id, bytes, rest, at);
    return;
  }
  exchange.on_bytes(bytes.size(), at);
  bool sound = true;
  const ParserState state = c.parser.feed(
      bytes, [&](const net::ResponseHead& head) { sound = exchange.on_head(head); },
      [&](std::string_view piece) {
        if (sound) sound = exchange.on_body(piece, bytes.size() + rest, at, decoder, *sink);
      });
  if (!sound || state == ParserState::failed) {
    const Outcome outcome = c.parser.no_room() ? Outcome::over_memory : Outcome::bad_reply;
    exchange.cut_short(outcome, at, c.parser.error(), decoder, *sink);
    query_ended(slot, false);
    return;
  }
  if (state == ParserState::complete) {
    const bool keep = c.parser.head().keep_alive && bytes.empty() && rest == 0 && !c.want_write &&
                      destinations[c.endpoint].keeping != Keeping::refuted;
    exchange.complete(at, decoder, *sink);
    query_ended(slot, keep);
    return;
  }
  watch_framing(*slot, at.read);
}

// A server that replies at once after connect: the reply would count for the next query, with no
// delay. Or the stamp's mapping is a little wrong, and the reply came at once.
void HttpTarget::State::on_early_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                                       const Stamp& at) {
  Connection& c = *connections[id];
  stamp_clock.refresh();
  const Duration unsure = stamp_clock.error_max() + stamp_clock.slew_max();
  if (at.arrival + unsure >= c.begun_at) {
    Stamp now = at;
    now.arrival = c.begun_at;
    on_http1_bytes(id, bytes, rest, now);
    return;
  }
  Slot* const slot = c.asked();
  slot->exchange.on_bytes(bytes.size(), at);
  slot->exchange.cut_short(Outcome::bad_reply, at, "the reply came before the request was sent",
                           decoder, *sink);
  query_ended(slot, false);
}

void HttpTarget::State::on_http2_bytes(std::uint32_t id, std::string_view bytes, const Stamp& at) {
  Connection& c = *connections[id];
  stamp = at;
  behind_body = bytes.size();
  bool sound = c.http2->feed(bytes);
  int error = 0;
  // Sends acknowledgements and window updates, and a GOAWAY to a peer that broke the protocol.
  sound = flush(id, &error) && sound;
  settle_http2(id, sound, error, at);
}

void HttpTarget::State::settle_http2(std::uint32_t id, bool sound, int error, const Stamp& at) {
  Connection& c = *connections[id];
  const std::uint64_t serial_before = c.serial;
  sound = sound && !c.http2->over();
  end_streams(sound);
  if (c.serial != serial_before) return;  // closed, and perhaps reopened
  std::string why = c.http2->error();
  if (!sound && why.empty()) {
    why = error != 0              ? format("cannot send: {}", std::strerror(error))
          : c.http2->going_away() ? "the server said GOAWAY"
                                  : "the connection broke";
  }
  if (c.state == Connection::State::handshaking) {
    settle_beginning(id, sound, std::move(why));
    return;
  }
  if (!sound) {
    fail_active(id, c.http2->broken() ? Outcome::bad_reply : outcome_of(error), at, why);
    return;
  }
  watch_starved(id, at.read);
  if (!c.listed && can_take_more(c)) release(id, true);  // it may allow more than before
}

void HttpTarget::State::settle_beginning(std::uint32_t id, bool sound, std::string why) {
  const Connection& c = *connections[id];
  if (!sound || c.http2->going_away()) {
    if (why.empty()) why = "the server said GOAWAY before a request";
    connect_failed(id, Outcome::connect_failed, std::move(why));
    return;
  }
  if (c.http2->begun() && c.http2->streams_max() > 0) can_carry(id);
}

void HttpTarget::State::end_streams(bool keep) {
  for (std::size_t i = 0; i < ended.size(); ++i) {
    ended[i]->again ? send_unprocessed_again(ended[i], keep) : query_ended(ended[i], keep);
  }
  ended.clear();
}

void HttpTarget::State::watch_starved(std::uint32_t id, Instant now) {
  Connection& c = *connections[id];
  const bool starved = c.http2->streams_max() == 0 && c.busy();
  if (starved && !c.starved && spec.connect_timeout != Duration::max()) {
    connect_deadlines.push_back({now + spec.connect_timeout, id, c.serial});
  }
  c.starved = starved;
}

void HttpTarget::State::on_head(void* user, const net::ResponseHead& head) {
  Slot& slot = *static_cast<Slot*>(user);
  connections[slot.connection]->replied = true;
  slot.exchange.on_bytes(0, stamp);
  if (slot.exchange.on_head(head)) {
    watch_framing(slot, stamp.read);
  } else {
    connections[slot.connection]->http2->cancel(slot.stream);
  }
}

void HttpTarget::State::on_body(void* user, std::string_view piece, std::size_t rest) {
  Slot& slot = *static_cast<Slot*>(user);
  slot.exchange.on_bytes(piece.size(), stamp);
  behind_body = rest;
  if (slot.exchange.given_up()) return;
  if (slot.exchange.on_body(piece, rest, stamp, decoder, *sink)) {
    watch_framing(slot, stamp.read);
    return;
  }
  connections[slot.connection]->http2->cancel(slot.stream);
}

void HttpTarget::State::on_request_out(void* user) {
  Slot* const slot = static_cast<Slot*>(user);
  slot->out = true;
  connections[slot->connection]->going_out.push_back(slot);
}

void HttpTarget::State::on_end(void* user, const net::Http2End& end) {
  Slot* const slot = static_cast<Slot*>(user);
  Exchange& exchange = slot->exchange;
  ended.push_back(slot);
  if (end.unprocessed && !exchange.reply_started() && slot->unprocessed < kUnprocessedMax) {
    slot->again = true;
  } else if (end.code == 0) {
    Stamp at_end = stamp;
    at_end.emptied = stamp.emptied && behind_body == 0;
    exchange.complete(at_end, decoder, *sink);
  } else if (!end.broken.empty()) {
    exchange.cut_short(Outcome::bad_reply, stamp, format("HTTP/2: {}", end.broken), decoder, *sink);
  } else {
    const std::string_view times = end.unprocessed ? ", again and again" : "";
    exchange.cut_short(Outcome::reset, stamp,
                       format("HTTP/2 stream reset: {}{}", net::http2_error_name(end.code), times),
                       decoder, *sink);
  }
}

void HttpTarget::State::watch_framing(Slot& slot, Instant now) {
  if (!slot.exchange.settled() || slot.framing_watched) return;
  slot.framing_watched = true;
  const bool done = slot.exchange.done_marker();
  auto& deadlines = done ? framing_deadlines : failed_deadlines;
  deadlines.push_back({now + (done ? kFramingMax : kFailedMax), &slot, slot.serial});
}

}  // namespace assay::protocol
