// HttpTarget's receiving: from epoll's events to the end of a query. The functions stand in the
// order in which a read goes through them, each below its callers:
//   wait -> handle_some -> hold (receive) or on_readable (receive) -> on_read
//   -> on_ciphertext -> on_reply_bytes -> Transport::feed
//   -> after_feed -> settle -> remove_ended -> query_ended, when the read has ended a query.
// From there release() (http_target_pool.cc) gives the connection its next query.

#include <algorithm>
#include <cerrno>

#include "protocol/http_target_state.h"

namespace assay::protocol {
namespace {

constexpr Duration kStampRefresh = 1_s;

}  // namespace

void HttpTarget::State::wait(Instant until) {
  const Instant now = clock.now();
  if (now >= stamp_refresh) {
    shared.stamp_clock.refresh();
    stamp_refresh = now + kStampRefresh;
  }
  const Instant wake = failures.empty() ? std::min(until, next_deadline()) : now;
  // A look before the sleep: a wait that finds nothing ready sleeps, however short it is, and
  // WakeWatch counts the sleeps. The look also says that no socket has bytes now.
  take_ready(::epoll_wait(epoll.get(), ready.data(), kReadyMax, 0), now);
  const Instant asleep_at = clock.now();
  if (ready_count > 0 || wake <= asleep_at) {
    last_read = asleep_at;
    return;
  }
  const std::int64_t ns = std::min((wake - asleep_at).ns, (3600_s).ns);
  const timespec timeout{ns / 1'000'000'000, ns % 1'000'000'000};
  wake_watch.before_wait(asleep_at);
  const int n = ::epoll_pwait2(epoll.get(), ready.data(), kReadyMax, &timeout, nullptr);
  const bool interrupted = n < 0 && errno == EINTR;
  last_read = clock.now();
  wake_watch.after_wait(last_read, interrupted);
  if (interrupted) {
    ++stats.waits_interrupted;
    stats.interrupted_for += last_read - asleep_at;
  }
  take_ready(n, asleep_at);
}

Instant HttpTarget::State::next_deadline() const {
  Instant next = Instant::max();
  if (!connect_deadlines.empty()) next = connect_deadlines.front().at;
  for (const auto* const queue :
       {&query_deadlines, &shared.paced, &shared.framing_deadlines, &shared.failed_deadlines}) {
    if (!queue->empty()) next = std::min(next, queue->front().at);
  }
  return next;
}

// What a wait or a look that began at `since` returned.
void HttpTarget::State::take_ready(int n, Instant since) {
  ready_count = std::max(n, 0);
  ready_at = 0;
  quiet_before = quiet_now;
  // If the list is not full, it holds all ready events.
  if (n >= 0 && n < kReadyMax) quiet_now = since;
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

// epoll reports only bytes, on an open connection: only the read remains to be done.
bool HttpTarget::State::only_readable(const epoll_event& event) const {
  const Connection& c = *connections[static_cast<std::uint32_t>(event.data.u64)];
  return event.events == EPOLLIN && c.state == Connection::State::open &&
         c.fd.get() == static_cast<int>(event.data.u64 >> 32);
}

// Reads once and holds the bytes. False when there were none.
bool HttpTarget::State::hold(const epoll_event& event, char* room) {
  const auto id = static_cast<std::uint32_t>(event.data.u64);
  Connection& c = *connections[id];
  HeldRead& read = held[held_count];
  const net::Received r = receive(c, room, kHeldBytes, &read.at);
  if (r.error == EAGAIN) return false;
  read.connection = id;
  read.serial = c.serial;
  read.error = r.error;  // of a reset that came since: another read would not name it
  read.bytes = {room, static_cast<std::size_t>(std::max<ssize_t>(r.bytes, 0))};
  ++held_count;
  __builtin_prefetch(c.lane.active.data());
  return true;
}

// With thousands of streams each one's state has left the cache when its next event comes.
void HttpTarget::State::fetch_ahead(const HeldRead& read) const {
  const Connection& c = *connections[read.connection];
  if (!c.busy()) return;
  const char* const slot = reinterpret_cast<const char*>(c.lane.active[0]);
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
  // What can be read at once is reported again: a connection is watched anew when it is there.
  if (c.state == Connection::State::connecting) return on_connected(id);
  // One edge may announce both the last bytes and the end, and no other edge follows: then the end
  // must be read too. A server may answer and close before it has read the request: read its answer
  // before the failed send is reported.
  constexpr std::uint32_t kEnd = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
  const std::uint32_t what = event.events & (EPOLLIN | kEnd);
  const std::uint64_t serial_before = c.serial;
  if (what != 0) on_readable(id, (what & kEnd) != 0);
  if ((event.events & EPOLLOUT) == 0 || !c.lane.blocked || c.serial != serial_before) return;
  const std::optional<int> error = flush(id);
  // A handshake whose socket broke has that as an event of its own.
  if (c.transport) settle(id, true, error, {.arrival = last_read, .read = last_read});
}

void HttpTarget::State::on_readable(std::uint32_t id, bool to_the_end) {
  const Connection& c = *connections[id];
  const std::uint64_t serial_before = c.serial;
  for (;;) {
    Stamp at;
    const net::Received r = receive(*connections[id], buffer.data(), kReceiveBytes, &at);
    if (r.error == EAGAIN) return;
    const auto size = static_cast<std::size_t>(std::max<ssize_t>(r.bytes, 0));
    on_read(id, {buffer.data(), size}, r.error, at);
    // A read that did not fill the buffer emptied the socket.
    const bool emptied = size < kReceiveBytes && !to_the_end;
    if (emptied || c.serial != serial_before) return;
  }
}

net::Received HttpTarget::State::receive(Connection& c, char* room, std::size_t size, Stamp* at) {
  const Instant before = last_read;
  const net::Received r =
      c.stamped ? net::receive_stamped(c.fd, room, size) : net::receive(c.fd, room, size);
  last_read = clock.now();
  *at = {.arrival = last_read,
         .read = last_read,
         .kernel = r.stamp.ns != 0,
         .emptied = r.bytes < static_cast<ssize_t>(size),
         .not_before = std::max(c.emptied_at, quiet_before),
         .wake = &wake_watch};
  // Use the time before the read, not after: bytes that come between are the next read's.
  if (at->emptied) c.emptied_at = before;
  if (at->kernel) {
    const Instant arrival = shared.stamp_clock.arrival(r.stamp, at->not_before, last_read);
    at->kernel = arrival.known();
    if (at->kernel) at->arrival = arrival;
  }
  return r;
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
  if (c.state == Connection::State::handshaking) {
    go_on_with_handshake(id);
    // Closed, and perhaps reopened; or the handshake has taken all of it, and waits for more.
    if (c.serial != serial_before || c.state == Connection::State::handshaking) return;
  }
  for (;;) {
    const std::ptrdiff_t n = c.tls->read(plaintext.data(), kReceiveBytes);
    if (n < 0) {
      end_active(id, {.outcome = Outcome::tls_failed, .why = c.tls->error()}, at);
      return;
    }
    if (n == 0) break;
    const std::string_view text(plaintext.data(), static_cast<std::size_t>(n));
    on_reply_bytes(id, text, c.tls->input_left(), at);
    if (c.serial != serial_before) return;
    if (c.tls->read_empty()) break;
  }
  // TLS itself may owe an answer: a refusal of another handshake, or new keys.
  if (c.tls->closed()) {
    on_closed(id, 0, at);
  } else if (!c.tls->output().empty()) {
    after_feed(id, {.output = true}, at);
  }
}

void HttpTarget::State::on_reply_bytes(std::uint32_t id, std::string_view bytes, std::size_t rest,
                                       const Stamp& at) {
  Connection& c = *connections[id];
  if (c.doubted && c.busy()) destinations[c.lane.endpoint].keeping = Keeping::proven;
  const Fed fed = c.transport->feed(bytes, rest, at);
  if (!fed.sound || fed.changed) after_feed(id, fed, at);
}

// Not inlined: most reads change nothing, and skip its frame on the stack.
[[gnu::noinline]] void HttpTarget::State::after_feed(std::uint32_t id, Fed fed, const Stamp& at) {
  settle(id, fed.sound, fed.output ? flush(id) : std::nullopt, at);
}

void HttpTarget::State::settle(std::uint32_t id, bool sound, std::optional<int> error,
                               const Stamp& at) {
  Connection& c = *connections[id];
  const std::uint64_t serial_before = c.serial;
  sound = sound && !error && c.transport->standing() != Transport::Standing::over;
  remove_ended(sound);
  if (c.serial != serial_before) return;  // closed, and perhaps reopened
  if (c.state == Connection::State::beginning) return settle_beginning(id, sound, error);
  if (!sound) return end_connection(id, Transport::Side::sending, error.value_or(0), at);
  watch_starved(id);
  if (!c.listed && can_take_more(c)) release(id, true);  // it may allow more than before
}

void HttpTarget::State::remove_ended(bool keep) {
  std::vector<Slot*>& ended = shared.ended;
  for (std::size_t i = 0; i < ended.size(); ++i) {
    ended[i]->again ? send_unprocessed_again(ended[i], keep) : query_ended(ended[i], keep);
  }
  ended.clear();
}

void HttpTarget::State::query_ended(Slot* slot, bool keep) {
  --in_flight;
  const std::uint32_t id = slot->connection;
  Connection& c = *connections[id];
  take_off(c, slot);
  const bool refuted = destinations[c.lane.endpoint].keeping == Keeping::refuted;
  release(id, keep && !(refuted && !c.transport->announces_end()));
}

void HttpTarget::State::watch_starved(std::uint32_t id) {
  Connection& c = *connections[id];
  const bool starved = c.busy() && c.transport->limit() == 0;
  if (!starved) {
    c.awaited_until = Instant::none();
  } else if (!c.awaited_until.known()) {
    await(id, last_read);
  }
}

}  // namespace assay::protocol
