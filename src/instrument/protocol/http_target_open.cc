// HttpTarget's opening of connections. The functions stand in the order in which a connection goes
// through them: open_if_needed -> open_connection -> on_connected -> go_on_with_handshake (TLS)
// -> established -> settle_beginning (where the transport has a handshake too) -> can_carry, and
// from each of them connect_failed. Then release() (http_target_pool.cc) gives it its first query.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {

void HttpTarget::State::open_if_needed(std::uint16_t endpoint) {
  Destination& d = destinations[endpoint];
  const std::size_t coming = std::size_t{d.connecting} * d.queries_each;
  if (d.waiting.size() <= coming || d.connecting >= kConnectingMax) return;
  if (open_total >= stats.connections_max && !(d.open == 0 && close_an_idle_connection())) return;
  open_connection(endpoint);
}

void HttpTarget::State::open_connection(std::uint16_t endpoint) {
  Destination& d = destinations[endpoint];
  if (free_records.empty()) {
    free_records.push_back(static_cast<std::uint32_t>(connections.size()));
    connections.push_back(std::make_unique<Connection>());
  }
  const std::uint32_t id = free_records.back();
  free_records.pop_back();
  Connection& c = *connections[id];
  c.state = Connection::State::connecting;
  c.lane.endpoint = endpoint;
  c.fresh = true;
  c.lane.blocked = true;
  c.unflushed = false;
  c.opened = c.emptied_at = clock.now();
  ++d.open;
  ++d.connecting;
  ++open_total;
  stats.connections_peak = std::max(stats.connections_peak, open_total);
  auto fd = net::start_connect(d.addresses[d.address_next]);
  if (!fd) {
    connect_failed(id, Outcome::connect_failed, fd.error().message);
    return;
  }
  c.fd = std::move(*fd);
  net::set_no_delay(c.fd);  // the kernel tunes its buffers
  c.stamped = options.kernel_stamps && !d.addresses[d.address_next].is_unix() &&
              net::enable_receive_stamps(c.fd);
  set_watched(id, EPOLL_CTL_ADD, true);
  await(id, c.opened);
  ++stats.connections_opened;
}

void HttpTarget::State::await(std::uint32_t id, Instant since) {
  if (spec.connect_timeout == Duration::max()) return;
  Connection& c = *connections[id];
  c.awaited_until = since + spec.connect_timeout;
  connect_deadlines.push_back({c.awaited_until, id});
}

void HttpTarget::State::on_connected(std::uint32_t id) {
  Connection& c = *connections[id];
  const int error = net::connect_result(c.fd);
  if (error == EINPROGRESS || error == EALREADY) return;
  if (error != 0) {
    connect_failed(id, Outcome::connect_failed, std::strerror(error));
    return;
  }
  const Destination& d = destinations[c.lane.endpoint];
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
  const std::optional<int> error = flush(id);
  if (step == net::TlsSession::Step::failed || error) {
    connect_failed(id, Outcome::tls_failed,
                   error ? format("TLS handshake: {}", std::strerror(*error)) : c.tls->error());
    return;
  }
  if (step == net::TlsSession::Step::done) {
    stats.tls_version = c.tls->version();
    established(id);
  }
}

void HttpTarget::State::established(std::uint32_t id) {
  Connection& c = *connections[id];
  const bool http2 =
      c.tls ? c.tls->application() == "h2" : spec.http_version() == HttpVersion::http2;
  if (!http2 && spec.http_version() == HttpVersion::http2) {
    connect_failed(id, Outcome::connect_failed, "the endpoint does not speak HTTP/2 (ALPN)");
    return;
  }
  c.transport = http2    ? make_http2_transport(c.lane, shared)
                : socket ? make_socket_transport(c.lane, shared)
                : jobs   ? make_job_transport(c.lane, shared)
                         : make_http1_transport(c.lane, shared);
  if (c.transport->standing() == Transport::Standing::open) {
    can_carry(id);
    return;
  }
  c.state = Connection::State::beginning;
  settle_beginning(id, true, flush(id));
}

void HttpTarget::State::settle_beginning(std::uint32_t id, bool sound, std::optional<int> error) {
  const Connection& c = *connections[id];
  const Transport::Standing standing = c.transport->standing();
  if (!sound || error || standing >= Transport::Standing::leaving) {
    Ending ending = c.transport->ending(Transport::Side::sending, error.value_or(0));
    connect_failed(id, Outcome::connect_failed, std::move(ending.why));
  } else if (standing == Transport::Standing::open) {
    can_carry(id);
  }
}

void HttpTarget::State::can_carry(std::uint32_t id) {
  Connection& c = *connections[id];
  Destination& d = destinations[c.lane.endpoint];
  --d.connecting;
  d.queries_each = c.transport->limit();
  c.connect_time = clock.now() - c.opened;
  c.state = Connection::State::open;
  c.awaited_until = Instant::none();
  release(id, true);
}

void HttpTarget::State::connect_failed(std::uint32_t id, Outcome outcome, std::string why) {
  Connection& c = *connections[id];
  const std::uint16_t endpoint = c.lane.endpoint;
  Destination& d = destinations[endpoint];
  ++stats.connections_failed;
  close_connection(id);
  connect_error = why;
  // IPv6 may be refused where IPv4 is served.
  const bool more_addresses = d.try_next_address();
  if (!d.waiting.empty() && !more_addresses) {
    fail_later(d.waiting.front().query, d.waiting.front().due, endpoint, outcome, std::move(why));
    d.waiting.pop_front();
  } else if (more_addresses) {
    connect_error.clear();
  }
  if (!d.waiting.empty() && d.open == d.connecting) open_if_needed(endpoint);
}

}  // namespace assay::protocol
