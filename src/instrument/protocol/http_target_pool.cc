// The connection pool of HttpTarget: opening, reusing and closing connections.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/format.h"
#include "protocol/http_target_state.h"

namespace assay::protocol {
namespace {

// Descriptors not used for connections: files, logs, a terminal, the other measuring threads'
// epolls.
constexpr std::uint64_t kDescriptorsKept = 256;
// Edge-triggered: epoll checks a level-triggered descriptor twice for each read, 3 % of a query's
// cost. A reader must therefore read until the socket is empty, and to the end after EPOLLRDHUP.
constexpr std::uint32_t kWatched = EPOLLIN | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET);

}  // namespace

std::uint32_t connections_max_of(std::uint64_t descriptors, std::uint32_t wanted) {
  const std::uint64_t most = descriptors - std::min(kDescriptorsKept, descriptors / 2);
  return static_cast<std::uint32_t>(wanted == 0 ? most : std::min<std::uint64_t>(most, wanted));
}

Result<void> HttpTarget::State::open_destinations() {
  epoll = net::Fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.open()) return errno_error("epoll_create1");
  stats.connections_max =
      connections_max_of(net::raise_descriptor_limit(), options.connections_max);
  bool any_tls = false;
  for (const std::string& text : spec.urls) {
    Destination d;
    ASSIGN_OR_RETURN(d.url, net::parse_url(text));
    d.name = net::to_string(d.url);
    if (!d.url.unix_path.empty()) {
      ASSIGN_OR_RETURN(const auto address, net::Address::unix_path(d.url.unix_path));
      d.addresses.push_back(address);
    } else {
      auto found = net::resolve(d.url.host, d.url.port);
      if (!found) return found.error().within(format("cannot reach '{}'", d.name));
      d.addresses = std::move(*found);
    }
    any_tls = any_tls || d.url.tls;
    if (spec.http == HttpVersion::http2) d.queries_each = kStreamsMax;
    destinations.push_back(std::move(d));
  }
  if (destinations.empty()) return invalid("no endpoint was given");
  if (any_tls) {
    ASSIGN_OR_RETURN(auto context,
                     net::TlsContext::client({.insecure = spec.insecure,
                                              .offer_http2 = spec.http != HttpVersion::http1,
                                              .ca_file = options.ca_file}));
    tls.emplace(std::move(context));
    plaintext.resize(kReceiveBytes + kDecodePadding);
  }
  last_read = clock.now();
  return {};
}

void HttpTarget::State::open_if_needed(std::uint16_t endpoint) {
  Destination& d = destinations[endpoint];
  const std::size_t coming = std::size_t{d.connecting} * d.queries_each;
  if (d.waiting.size() <= coming || d.connecting >= kConnectingMax) return;
  if (open_total >= stats.connections_max && !(d.open == 0 && close_an_idle_connection())) return;
  open_connection(endpoint);
}

bool HttpTarget::State::close_an_idle_connection() {
  for (Destination& d : destinations) {
    for (const std::uint32_t id : d.idle) {
      if (connections[id]->busy()) continue;
      close_connection(id);
      return true;
    }
  }
  return false;
}

bool HttpTarget::State::open_connection(std::uint16_t endpoint) {
  Destination& d = destinations[endpoint];
  std::uint32_t id = 0;
  if (free_records.empty()) {
    id = static_cast<std::uint32_t>(connections.size());
    connections.push_back(std::make_unique<Connection>(options.memory));
  } else {
    id = free_records.back();
    free_records.pop_back();
  }
  Connection& c = *connections[id];
  c.state = Connection::State::connecting;
  c.endpoint = endpoint;
  c.fresh = true;
  c.want_write = true;
  c.unflushed = false;
  c.starved = false;
  c.replied = false;
  c.streams_taken = kStreamsMax;
  c.serial = ++serial;
  c.opened = c.emptied_at = clock.now();
  ++d.open;
  ++d.connecting;
  ++open_total;
  stats.connections_peak = std::max(stats.connections_peak, open_total);
  auto fd = net::start_connect(d.addresses[d.address_next]);
  if (!fd) {
    connect_failed(id, Outcome::connect_failed, fd.error().message);
    return false;
  }
  c.fd = std::move(*fd);
  net::set_no_delay(c.fd);  // the kernel tunes its buffers
  c.stamped = options.kernel_stamps && !d.addresses[d.address_next].is_unix() &&
              net::enable_receive_stamps(c.fd);
  epoll_event event{};
  event.events = kWatched | EPOLLOUT;
  event.data.u64 = id | (static_cast<std::uint64_t>(static_cast<std::uint32_t>(c.fd.get())) << 32);
  CHECK(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, c.fd.get(), &event) == 0);
  if (spec.connect_timeout != Duration::max()) {
    connect_deadlines.push_back({c.opened + spec.connect_timeout, id, c.serial});
  }
  ++stats.connections_opened;
  return true;
}

void HttpTarget::State::count_retransmits(const Connection& c) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(c.fd.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
    stats.retransmits += info.tcpi_total_retrans;
  }
}

void HttpTarget::State::close_connection(std::uint32_t id) {
  Connection& c = *connections[id];
  Destination& d = destinations[c.endpoint];
  if (c.state == Connection::State::closed) return;
  CHECK(!c.busy());
  if (c.state == Connection::State::connecting || c.state == Connection::State::handshaking) {
    --d.connecting;
  }
  if (c.listed) std::erase(d.idle, id);
  c.listed = false;
  if (c.fd.open()) count_retransmits(c);
  c.state = Connection::State::closed;
  c.serial = ++serial;
  c.http2.reset();
  c.tls.reset();
  c.parser.reset();
  std::string().swap(c.unsent);
  c.unsent_at = 0;
  c.fd.reset();  // epoll forgets it
  --d.open;
  --open_total;
  free_records.push_back(id);
}

void HttpTarget::State::established(std::uint32_t id) {
  Connection& c = *connections[id];
  const bool plain_http2 = !c.tls && spec.http == HttpVersion::http2;
  if (plain_http2 || (c.tls && c.tls->application() == "h2")) {
    c.http2 = std::make_unique<net::Http2Client>(*this);
    c.state = Connection::State::handshaking;
    int error = 0;
    if (!flush(id, &error)) {
      connect_failed(id, Outcome::connect_failed, format("cannot send: {}", std::strerror(error)));
    }
    return;
  }
  if (spec.http == HttpVersion::http2) {
    connect_failed(id, Outcome::connect_failed, "the endpoint does not speak HTTP/2 (ALPN)");
    return;
  }
  can_carry(id);
}

void HttpTarget::State::can_carry(std::uint32_t id) {
  Connection& c = *connections[id];
  --destinations[c.endpoint].connecting;
  if (c.http2) {
    destinations[c.endpoint].queries_each = std::min(kStreamsMax, c.http2->streams_max());
  }
  c.connect_time = clock.now() - c.opened;
  c.state = Connection::State::open;
  release(id, true);
  open_if_needed(c.endpoint);
}

void HttpTarget::State::connect_failed(std::uint32_t id, Outcome outcome, std::string why) {
  Connection& c = *connections[id];
  const std::uint16_t endpoint = c.endpoint;
  Destination& d = destinations[endpoint];
  ++stats.connections_failed;
  close_connection(id);
  // The next try uses the name's next address: IPv6 may be refused where IPv4 is served.
  d.address_next = (d.address_next + 1) % d.addresses.size();
  connect_error = why;
  const bool more_addresses = d.address_next != 0;
  if (!d.waiting.empty() && !more_addresses) {
    fail_later(d.waiting.front().query, d.waiting.front().due, endpoint, outcome, std::move(why));
    d.waiting.pop_front();
  } else if (more_addresses) {
    connect_error.clear();
  }
  if (!d.waiting.empty() && d.open == d.connecting) open_if_needed(endpoint);
}

bool HttpTarget::State::can_take_more(const Connection& c) const {
  if (c.state != Connection::State::open) return false;
  if (!c.http2) return c.active.empty();
  return !c.http2->going_away() &&
         c.active.size() < std::min<std::size_t>(c.streams_taken, c.http2->streams_max());
}

std::optional<std::uint32_t> HttpTarget::State::take_free(Destination& d, Instant now) {
  while (!d.idle.empty()) {
    const std::uint32_t id = d.idle.back();
    Connection& c = *connections[id];
    d.idle.pop_back();
    c.listed = false;
    const bool doubted = d.keeping == Keeping::refuted && !c.fresh && !c.http2;
    const bool stale = !c.busy() && (doubted || now - c.idle_since > spec.idle_connection_max);
    if (!stale && can_take_more(c)) return id;
    // The peer may be closing it now: a new connection costs less than a failed query.
    if (!c.busy()) close_connection(id);
  }
  return std::nullopt;
}

void HttpTarget::State::release(std::uint32_t id, bool keep) {
  Connection& c = *connections[id];
  Destination& d = destinations[c.endpoint];
  const std::uint16_t endpoint = c.endpoint;
  if (!keep || (c.http2 && c.http2->going_away())) {
    if (!c.busy()) close_connection(id);
    open_if_needed(endpoint);
    return;
  }
  while (!d.waiting.empty() && can_take_more(c)) {
    const Waiting next = d.waiting.front();
    d.waiting.pop_front();
    start(id, next);
  }
  if (!can_take_more(c)) {
    // A server that now allows fewer streams, or none: waiting queries need another connection.
    if (!c.busy()) close_connection(id);
    open_if_needed(endpoint);
    return;
  }
  c.idle_since = last_read;
  if (c.listed) return;
  c.listed = true;
  d.idle.push_back(id);
}

Slot* HttpTarget::State::take_slot() {
  if (free_slots.empty()) {
    slots.push_back(std::make_unique<Slot>(options.memory));
    free_slots.push_back(slots.back().get());
  }
  Slot* const slot = free_slots.back();
  free_slots.pop_back();
  slot->serial = ++serial;
  slot->framing_watched = false;
  slot->out = false;
  slot->again = false;
  return slot;
}

void HttpTarget::State::free_slot(Slot* slot) {
  slot->serial = ++serial;
  free_slots.push_back(slot);
}

void HttpTarget::State::watch(std::uint32_t id, bool write) {
  Connection& c = *connections[id];
  if (c.want_write == write) return;
  c.want_write = write;
  epoll_event event{};
  event.events = write ? kWatched | EPOLLOUT : kWatched;
  event.data.u64 = id | (static_cast<std::uint64_t>(static_cast<std::uint32_t>(c.fd.get())) << 32);
  CHECK(::epoll_ctl(epoll.get(), EPOLL_CTL_MOD, c.fd.get(), &event) == 0);
}

}  // namespace assay::protocol
