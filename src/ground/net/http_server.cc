#include "net/http_server.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "net/http_reply.h"
#include "net/http_server_connection.h"
#include "net/receive.h"

namespace assay::net {
namespace {

constexpr std::uint64_t kListenerKey = Poller::kWakeKey - 1;
// The service's own descriptors: no connection is the 2^32nd of its slot.
constexpr std::uint64_t kOwnKeys = std::uint64_t{0xffffffff} << 32;
constexpr std::uint32_t kOwnKeyEnd = std::uint32_t{1} << 31;
constexpr std::size_t kReadBytes = 256 << 10;
constexpr Duration kSweepEvery = 1_s;
constexpr Duration kEventsFor = 200_us;  // after that the service's own work gets its turn
constexpr Duration kLingerMax = 2_s;

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::open(Fd listener, const HttpServerOptions& options,
                                                     HttpService& service, const Clock& clock) {
  ASSIGN_OR_RETURN(Poller poller, Poller::open());
  TRY(poller.add_listener(listener.get(), kListenerKey));
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(poller), std::move(listener), options, service, clock));
}

HttpServer::HttpServer(Poller poller, Fd listener, const HttpServerOptions& options,
                       HttpService& service, const Clock& clock)
    : poller_(std::move(poller)),
      listener_(std::move(listener)),
      options_(options),
      service_(service),
      clock_(clock),
      buffer_(kReadBytes + kBodyPadding),
      plain_(options.tls != nullptr ? kReadBytes + kBodyPadding : 0) {}

HttpServer::~HttpServer() = default;

void HttpServer::stop() {
  stopping_.store(true, std::memory_order_relaxed);
  poller_.wake();
}

void HttpServer::run() {
  while (!stopping_.load(std::memory_order_relaxed)) {
    now_ = clock_.now();
    resume_waiting();
    const Instant next = service_.on_turn(now_);
    if (now_ >= next_sweep_) sweep(now_);
    const Instant until = resume_.empty() ? std::min(next, next_sweep_) : now_;
    const auto events = poller_.wait(until - clock_.now());
    now_ = clock_.now();
    for (const epoll_event& event : events) {
      on_event(event);
      // Five thousand requests at once take a tenth of a second: serve what becomes due meanwhile.
      const Instant now = clock_.now();
      if (now - now_ < kEventsFor) continue;
      now_ = now;
      service_.on_turn(now_);
      now_ = clock_.now();
    }
  }
}

HttpServer::Connection* HttpServer::find(ConnectionId id) {
  const std::uint32_t slot = slot_of(id);
  if (slot >= slots_.size()) return nullptr;
  Connection& connection = slots_[slot];
  if (connection.id() != id) return nullptr;
  const bool lives =
      connection.of_stream != nullptr ? !connection.of_stream->lost : connection.fd.open();
  return lives ? &connection : nullptr;
}

Result<void> HttpServer::watch(const Fd& fd, std::uint32_t key) {
  CHECK(key < kOwnKeyEnd);
  return poller_.add(fd.get(), kOwnKeys | key);
}

void HttpServer::prefetch(ConnectionId id) const {
  const std::uint32_t slot = slot_of(id);
  if (slot >= slots_.size()) return;
  constexpr std::size_t kLine = 64;
  const char* const at = reinterpret_cast<const char*>(&slots_[slot]);
  __builtin_prefetch(at, 1);
  __builtin_prefetch(at + kLine, 1);
}

const HttpServer::Connection* HttpServer::find(ConnectionId id) const {
  return const_cast<HttpServer*>(this)->find(id);
}

void HttpServer::accept_waiting() {
  constexpr int kAcceptMax = 16;  // a flood of connections must not delay open streams
  for (int i = 0; i < kAcceptMax; ++i) {
    Result<Fd> fd = accept_one(listener_);
    if (!fd) {  // out of descriptors: try again when a connection has ended
      poller_.remove(listener_.get());
      accepting_ = false;
      return;
    }
    if (!fd->open()) return;
    adopt(std::move(*fd));
  }
}

HttpServer::Connection& HttpServer::free_slot() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(slots_.size()));
    slots_.emplace_back().slot = free_.back();
  }
  return slots_[free_.back()];
}

void HttpServer::adopt(Fd fd) {
  Connection& connection = free_slot();
  if (!poller_.add(fd.get(), connection.id())) return;
  free_.pop_back();
  set_no_delay(fd);
  connection.fd = std::move(fd);
  connection.active = now_;
  if (options_.tls != nullptr) {
    connection.tls = std::make_unique<TlsSession>(*options_.tls, "");
    connection.state = State::handshake;
  }
  ++live_;
}

void HttpServer::on_event(const epoll_event& event) {
  if (event.data.u64 == kListenerKey) return accept_waiting();
  if (event.data.u64 >= kOwnKeys) {
    return service_.on_descriptor(static_cast<std::uint32_t>(event.data.u64), event.events);
  }
  Connection* const connection = find(event.data.u64);
  if (connection == nullptr) return;
  const ConnectionId id = connection->id();
  if ((event.events & EPOLLRDHUP) != 0) connection->peer_ended = true;
  if ((event.events & (EPOLLHUP | EPOLLERR)) != 0) return lose(*connection);
  if ((event.events & (EPOLLIN | EPOLLRDHUP)) != 0) connection->readable = true;
  if ((event.events & EPOLLOUT) != 0 && connection->waiting()) flush(*connection);
  if (find(id) != nullptr) pump(*connection);
}

void HttpServer::pump(Connection& connection) {
  const ConnectionId id = connection.id();
  while (find(id) != nullptr) {
    if (connection.state == State::closing) return;
    if (connection.state == State::replying) {
      if (connection.peer_ended) lose(connection);
      return;
    }
    if (!connection.ahead.empty()) {
      std::string ahead = std::exchange(connection.ahead, {});
      ahead.reserve(ahead.size() + kBodyPadding);
      if (connection.state != State::lingering) take(connection, ahead);
      continue;
    }
    const std::string_view bytes =
        connection.tls != nullptr ? read_tls(connection) : receive_some(connection);
    if (bytes.empty()) return;
    if (connection.state != State::lingering) take(connection, bytes);
  }
}

std::string_view HttpServer::receive_some(Connection& connection) {
  if (!connection.readable) return {};
  const Received r = receive(connection.fd, buffer_.data(), kReadBytes);
  if (r.bytes > 0) {
    connection.active = now_;
    return {buffer_.data(), static_cast<std::size_t>(r.bytes)};
  }
  connection.readable = false;
  if (r.bytes == 0 && connection.waiting()) {
    connection.state = State::closing;  // the peer ended its side and still reads its last reply
  } else if (r.error != EAGAIN) {
    lose(connection);
  }
  return {};
}

std::string_view HttpServer::read_tls(Connection& connection) {
  TlsSession& tls = *connection.tls;
  for (;;) {
    if (connection.state != State::handshake) {
      const std::ptrdiff_t n = tls.read(plain_.data(), kReadBytes);
      if (n > 0) return {plain_.data(), static_cast<std::size_t>(n)};
      if (n < 0 || tls.closed()) {
        lose(connection);
        return {};
      }
    }
    const std::string_view ciphertext = receive_some(connection);
    if (ciphertext.empty()) return {};
    tls.feed(ciphertext);
    if (connection.state != State::handshake) continue;
    const TlsSession::Step step = tls.handshake();
    if (!flush_tls(connection)) return {};  // also the alert with the reason of the failure
    if (step == TlsSession::Step::failed) {
      lose(connection);
      return {};
    }
    if (step != TlsSession::Step::done) continue;
    connection.state = State::reading;
    if (tls.application() == "h2" && !begin_http2(connection)) return {};
  }
}

void HttpServer::take(Connection& connection, std::string_view bytes) {
  if (connection.http2 != nullptr || may_begin_http2(connection, bytes)) {
    return take_http2(connection, bytes);
  }
  const ConnectionId id = connection.id();
  while (!bytes.empty() && connection.state == State::reading) {
    const RequestReader::Step step = connection.reader.feed(bytes, options_.limits, head_);
    if (step.status == ReadStatus::bad) return refuse(connection, step.error);
    bytes.remove_prefix(step.used);
    if (step.wants_body) send(id, "HTTP/1.1 100 Continue\r\n\r\n");
    if (step.status == ReadStatus::need_more) continue;
    connection.state = State::replying;
    connection.keep_alive = head_.keep_alive;
    connection.in_request = true;
    service_.on_request(id, head_, step.body);
    connection.in_request = false;
    connection.reader.reset();
    if (!connection.fd.open()) return destroy(connection);
  }
  if (!bytes.empty() && connection.state == State::upgraded) return pass_on(connection, bytes);
  connection.ahead = bytes;
}

void HttpServer::pass_on(Connection& connection, std::string_view bytes) {
  connection.in_request = true;
  service_.on_bytes(connection.id(), bytes);
  connection.in_request = false;
  if (!connection.fd.open()) destroy(connection);
}

void HttpServer::upgrade(ConnectionId id) {
  Connection* const connection = find(id);
  if (connection == nullptr) return;
  CHECK(connection->state == State::replying);
  if (connection->of_stream != nullptr) return reset_stream(*connection);
  connection->state = State::upgraded;
  if (!connection->in_request) resume_.push_back(id);
}

void HttpServer::refuse(Connection& connection, RequestError error) {
  const int status = static_cast<int>(error);
  const std::string body = format(
      "{{\"error\":{{\"message\":\"{}\",\"type\":\"invalid_request_error\","
      "\"param\":null,\"code\":{}}}}}",
      status_text(status), status);
  std::string out;
  append_head(out, {.status = status,
                    .content_type = "application/json",
                    .length = body.size(),
                    .keep_alive = false});
  const ConnectionId id = connection.id();
  send(id, out + body);
  close(id);
}

HttpServer::Sent HttpServer::send(ConnectionId id, std::span<const std::string_view> parts) {
  Connection* const connection = find(id);
  if (connection == nullptr) return Sent::gone;
  std::size_t total = 0;
  for (const std::string_view part : parts) total += part.size();
  connection->accepted += total;
  if (connection->of_stream != nullptr) return send_on_stream(*connection, parts, total);
  if (connection->waiting_bytes() > options_.pending_bytes_max) {
    reset(id);
    return Sent::gone;
  }
  return connection->tls != nullptr ? send_tls(*connection, parts)
                                    : send_plain(*connection, parts, total);
}

HttpServer::Sent HttpServer::send_plain(Connection& connection,
                                        std::span<const std::string_view> parts,
                                        std::size_t total) {
  constexpr std::size_t kPartsMax = 16;
  CHECK(parts.size() <= kPartsMax);
  std::size_t taken = 0;
  if (!connection.waiting()) {
    std::array<iovec, kPartsMax> pieces{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      pieces[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
    }
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = parts.size();
    // No signal interrupts it: the socket does not block.
    const ssize_t n = parts.size() == 1 ? send_some(connection.fd, parts[0])
                                        : ::sendmsg(connection.fd.get(), &message, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN) {
      connection.state = State::closing;  // the caller learns it from our result, not by on_gone()
      lose(connection);
      return Sent::gone;
    }
    taken = n < 0 ? 0 : static_cast<std::size_t>(n);
    connection.handed += taken;
    if (taken == total) return Sent::handed;
  }
  for (const std::string_view part : parts) {
    const std::size_t skip = std::min(taken, part.size());
    connection.pending.append(part.substr(skip));
    taken -= skip;
  }
  return Sent::queued;
}

HttpServer::Sent HttpServer::send_tls(Connection& connection,
                                      std::span<const std::string_view> parts) {
  for (const std::string_view part : parts) {
    if (!connection.tls->write(part)) {
      connection.state = State::closing;
      lose(connection);
      return Sent::gone;
    }
  }
  const State before = std::exchange(connection.state, State::closing);
  if (!flush_tls(connection)) return Sent::gone;
  connection.state = before;
  return connection.waiting() ? Sent::queued : Sent::handed;
}

void HttpServer::flush(Connection& connection) {
  const ConnectionId id = connection.id();
  if (connection.tls != nullptr) {
    flush_tls(connection);
  } else {
    flush_plain(connection);
  }
  const bool at_work = connection.state == State::replying || connection.state == State::upgraded;
  if (at_work) service_.on_progress(id, connection.handed);
  if (find(id) != nullptr) after_flush(connection);
}

void HttpServer::flush_plain(Connection& connection) {
  while (connection.pending_at < connection.pending.size()) {
    const std::string_view left =
        std::string_view(connection.pending).substr(connection.pending_at);
    const ssize_t n = send_some(connection.fd, left);
    if (n < 0) return;  // the peer does not read; or it is gone, of which the next event tells
    connection.pending_at += static_cast<std::size_t>(n);
    connection.handed += static_cast<std::size_t>(n);
  }
  connection.pending_at = 0;
  std::string().swap(connection.pending);  // a burst's memory is freed; `= {}` would keep it
}

bool HttpServer::flush_tls(Connection& connection) {
  for (;;) {
    const std::string_view left = connection.tls->output();
    if (left.empty()) break;
    const ssize_t n = send_some(connection.fd, left);
    if (n < 0 && errno == EAGAIN) return true;
    if (n < 0) {
      lose(connection);
      return false;
    }
    connection.tls->consume(static_cast<std::size_t>(n));
  }
  connection.handed = connection.accepted;  // known only when all ciphertext is out
  return true;
}

void HttpServer::after_flush(Connection& connection) {
  if (connection.http2 != nullptr && !connection.waiting() && !go_on_http2(connection)) return;
  if (connection.state == State::closing && !connection.waiting()) begin_linger(connection);
}

std::uint64_t HttpServer::accepted(ConnectionId id) const {
  const Connection* const connection = find(id);
  return connection == nullptr ? 0 : connection->accepted;
}

std::uint64_t HttpServer::handed(ConnectionId id) const {
  const Connection* const connection = find(id);
  return connection == nullptr ? 0 : connection->handed;
}

void HttpServer::finish(ConnectionId id, bool keep_alive) {
  Connection* const connection = find(id);
  if (connection == nullptr) return;
  CHECK(connection->state == State::replying);
  if (connection->of_stream != nullptr) return end_stream(*connection);
  if (!keep_alive || !connection->keep_alive) return close(id);
  connection->state = State::reading;
  connection->active = now_;
  // Inside on_request() the calling loop continues by itself.
  if (!connection->in_request) resume_.push_back(id);
}

void HttpServer::close(ConnectionId id) {
  Connection* const connection = find(id);
  if (connection == nullptr) return;
  if (connection->of_stream != nullptr) return end_stream(*connection);
  connection->state = State::closing;
  connection->active = now_;
  after_flush(*connection);
}

void HttpServer::reset(ConnectionId id) {
  Connection* const connection = find(id);
  if (connection == nullptr) return;
  if (connection->of_stream != nullptr) return reset_stream(*connection);
  set_reset_on_close(connection->fd);
  connection->state = State::closing;
  lose(*connection);
}

void HttpServer::begin_linger(Connection& connection) {
  ::shutdown(connection.fd.get(), SHUT_WR);
  connection.state = State::lingering;
  connection.active = now_;
  // The peer may have sent bytes that were not read yet. If it has ended its side as well, the
  // kernel reports that both have ended.
  resume_.push_back(connection.id());
}

void HttpServer::resume_waiting() {
  // A request answered at once may be followed by another: each connection gets one turn a round.
  std::vector<ConnectionId> round;
  round.swap(resume_);
  for (const ConnectionId id : round) {
    if (Connection* const connection = find(id)) pump(*connection);
  }
  if (resume_.empty()) {
    round.clear();
    resume_.swap(round);  // keeps its memory
  }
}

void HttpServer::lose(Connection& connection) {
  const bool replying = connection.state == State::replying || connection.state == State::upgraded;
  const ConnectionId id = connection.id();
  connection.fd.reset();
  if (connection.http2 != nullptr) lose_streams(connection);
  if (replying) service_.on_gone(id);
  if (!connection.in_request) destroy(connection);
}

void HttpServer::destroy(Connection& connection) {
  const std::uint32_t slot = connection.slot;
  const std::uint32_t generation = connection.generation + 1;
  if (connection.of_stream == nullptr) --live_;
  connection = Connection{};
  connection.slot = slot;
  connection.generation = generation;
  free_.push_back(slot);
  if (!accepting_ && poller_.add_listener(listener_.get(), kListenerKey)) accepting_ = true;
}

void HttpServer::sweep(Instant now) {
  next_sweep_ = now + kSweepEvery;
  for (Connection& connection : slots_) {
    if (!connection.fd.open()) continue;
    const Duration idle = now - connection.active;
    const bool lingered = connection.state == State::lingering && idle > kLingerMax;
    const bool unused =
        (connection.state == State::reading || connection.state == State::handshake ||
         connection.state == State::closing) &&
        !carries_streams(connection) && idle > options_.idle_max;
    if (lingered || unused) lose(connection);
  }
}

}  // namespace assay::net
