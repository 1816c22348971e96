// What HttpTarget receives: reads, and what their bytes mean for the query under way.

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {
namespace {

// After [DONE] only framing is missing; a server that keeps it back for longer loses the
// connection.
constexpr Duration kFramingMax = 250_ms;

}  // namespace

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

}  // namespace assay::protocol
