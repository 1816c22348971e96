// The connection pool of HttpTarget: endpoints, free connections and slots; closing connections.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/format.h"
#include "protocol/http_target_state.h"
#include "protocol/kind/kind.h"

namespace assay::protocol {
namespace {

// Descriptors not used for connections: files, logs, a terminal, the other measuring threads'
// epolls.
constexpr std::uint64_t kDescriptorsKept = 256;

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
  socket = kind_of(spec.spoken()).socket;
  jobs = kind_of(spec.spoken()).job;
  if ((socket || jobs) && spec.http == HttpVersion::http2) {
    return invalid(format("http: {} is spoken over {}HTTP/1.1; leave --http 2 out",
                          name_of(spec.spoken()), socket ? "a WebSocket of " : ""));
  }
  if (socket || jobs) spec.http = HttpVersion::http1;
  shared.poll_interval = spec.poll_interval;
  shared.fetch_artefacts = spec.fetch_artefacts;
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
    if (spec.http_version() == HttpVersion::http2) d.queries_each = kStreamsMax;
    destinations.push_back(std::move(d));
  }
  if (destinations.empty()) return invalid("no endpoint was given");
  if (any_tls) {
    ASSIGN_OR_RETURN(auto context, net::TlsContext::client(
                                       {.insecure = spec.insecure,
                                        .offer_http2 = spec.http_version() != HttpVersion::http1,
                                        .ca_file = options.ca_file}));
    tls.emplace(std::move(context));
    plaintext.resize(kReceiveBytes + kDecodePadding);
  }
  return {};
}

std::optional<std::uint32_t> HttpTarget::State::take_held(std::uint32_t sample) {
  for (;;) {
    const auto found = held_sessions.find(sample);
    if (found == held_sessions.end()) return std::nullopt;
    const std::uint32_t id = found->second;
    let_go(id);
    if (connections[id]->transport->awaits() == sample) return id;
    close_connection(id);  // the server has said goodbye
  }
}

std::optional<std::uint32_t> HttpTarget::State::take_free(Destination& d, Instant now) {
  while (!d.idle.empty()) {
    const std::uint32_t id = d.idle.back();
    Connection& c = *connections[id];
    d.idle.pop_back();
    c.listed = false;
    const bool doubted = d.keeping == Keeping::refuted && !c.fresh && !c.transport->announces_end();
    const bool stale = !c.busy() && (doubted || now - c.idle_since > spec.idle_connection_max);
    if (!stale && can_take_more(c)) return id;
    // The peer may be closing it now: a new connection costs less than a failed query.
    if (!c.busy()) close_connection(id);
  }
  return std::nullopt;
}

void HttpTarget::State::release(std::uint32_t id, bool keep) {
  Connection& c = *connections[id];
  Destination& d = destinations[c.lane.endpoint];
  const std::uint16_t endpoint = c.lane.endpoint;
  if (!keep || c.transport->standing() >= Transport::Standing::leaving) {
    if (!c.busy()) close_connection(id);
    open_if_needed(endpoint);
    return;
  }
  if (const std::uint32_t next = c.transport->awaits(); next != PreparedRequests::kNoTurn) {
    c.idle_since = last_read;
    c.held_for = next;
    held_sessions.emplace(next, id);
    return;
  }
  const std::uint64_t serial_before = c.serial;
  while (!d.waiting.empty() && can_take_more(c)) {
    Waiting next = std::move(d.waiting.front());
    d.waiting.pop_front();
    start(id, std::move(next));
    // It broke, and its record may serve a new connection by now.
    if (c.serial != serial_before) return open_if_needed(endpoint);
  }
  if (!can_take_more(c)) {
    // A peer that now allows fewer queries, or none: waiting queries need another connection.
    if (!c.busy()) close_connection(id);
    open_if_needed(endpoint);
    return;
  }
  c.idle_since = last_read;
  if (c.listed) return;
  c.listed = true;
  d.idle.push_back(id);
}

bool HttpTarget::State::can_take_more(const Connection& c) {
  return c.state == Connection::State::open && c.transport->capacity() > 0;
}

void HttpTarget::State::let_go(std::uint32_t id) {
  std::uint32_t& sample = connections[id]->held_for;
  const auto [first, last] = held_sessions.equal_range(sample);
  held_sessions.erase(
      std::find_if(first, last, [id](const auto& one) { return one.second == id; }));
  sample = PreparedRequests::kNoTurn;
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

void HttpTarget::State::close_connection(std::uint32_t id) {
  Connection& c = *connections[id];
  Destination& d = destinations[c.lane.endpoint];
  if (c.state == Connection::State::closed) return;
  CHECK(!c.busy());
  if (c.opening()) --d.connecting;
  if (c.listed) std::erase(d.idle, id);
  c.listed = false;
  if (c.held_for != PreparedRequests::kNoTurn) let_go(id);
  if (c.fd.open()) count_retransmits(c);
  c.state = Connection::State::closed;
  c.awaited_until = Instant::none();
  c.serial = ++serial;
  c.transport.reset();
  c.tls.reset();
  std::string().swap(c.unsent);
  c.unsent_at = 0;
  c.fd.reset();  // epoll forgets it
  --d.open;
  --open_total;
  free_records.push_back(id);
}

void HttpTarget::State::count_retransmits(const Connection& c) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(c.fd.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0) {
    stats.retransmits += info.tcpi_total_retrans;
  }
}

void HttpTarget::State::watch(std::uint32_t id, bool write) {
  Connection& c = *connections[id];
  if (c.lane.blocked == write) return;
  c.lane.blocked = write;
  set_watched(id, EPOLL_CTL_MOD, write);
}

void HttpTarget::State::set_watched(std::uint32_t id, int operation, bool write) {
  // Edge-triggered: epoll checks a level-triggered descriptor twice for each read, 3 % of a query's
  // cost. A reader must therefore read until the socket is empty, and to the end after EPOLLRDHUP.
  constexpr std::uint32_t kWatched = EPOLLIN | EPOLLRDHUP | static_cast<std::uint32_t>(EPOLLET);
  const int fd = connections[id]->fd.get();
  epoll_event event{};
  event.events = write ? kWatched | EPOLLOUT : kWatched;
  event.data.u64 = id | (static_cast<std::uint64_t>(static_cast<std::uint32_t>(fd)) << 32);
  CHECK(::epoll_ctl(epoll.get(), operation, fd, &event) == 0);
}

Slot* HttpTarget::State::take_slot() {
  if (free_slots.empty()) {
    slots.push_back(std::make_unique<Slot>(options.memory));
    slots.back()->exchange.keep_artefacts(options.artefacts);
    free_slots.push_back(slots.back().get());
  }
  Slot* const slot = free_slots.back();
  free_slots.pop_back();
  slot->framing_watched = false;
  slot->out = false;
  slot->again = false;
  return slot;
}

void HttpTarget::State::take_off(Connection& c, Slot* slot) {
  c.lane.remove(slot);
  free_slot(slot);
}

void HttpTarget::State::free_slot(Slot* slot) {
  slot->serial = ++serial;
  free_slots.push_back(slot);
}

}  // namespace assay::protocol
