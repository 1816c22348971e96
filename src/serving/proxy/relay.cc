#include "proxy/relay.h"

#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/json.h"
#include "net/http_reply.h"
#include "net/receive.h"

namespace assay::proxy {
namespace {

constexpr std::size_t kReceiveBytes = 256 << 10;
// A client that is this far behind does not get more until it has read.
constexpr std::uint64_t kBehindMax = 4 << 20;
constexpr Duration kLookEvery = 1_s;
constexpr std::size_t kKeptAllMax = std::size_t{1} << 30;  // of all exchanges under way

// What belongs to one connection, or what the proxy says anew.
bool is_ours(std::string_view name) {
  static constexpr std::array<std::string_view, 11> kNames{
      "host",          "connection", "proxy-connection",  "keep-alive",     "te",
      "trailer",       "upgrade",    "transfer-encoding", "content-length", "expect",
      "http2-settings"};
  return std::ranges::any_of(
      kNames, [name](std::string_view one) { return net::equals_ignoring_case(one, name); });
}

// A target may be a whole URL; the server gets its path and query.
std::string_view origin_form(std::string_view target) {
  const std::size_t mark = target.find("://");
  if (target.starts_with('/') || mark == std::string_view::npos) return target;
  const std::size_t path = target.find('/', mark + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

}  // namespace

// A client's connection and its own to the server.
struct Relay::Link {
  enum class State : std::uint8_t { closed, connecting, shaking, open };

  net::ConnectionId client = 0;
  std::uint32_t slot = 0;
  State state = State::closed;
  bool busy = false;  // a request is under way
  bool readable = false;
  bool ending = false;     // the server closed or broke it: read on to the end
  bool head_only = false;  // the request was HEAD: its reply has no body
  bool got_head = false;
  std::size_t address = 0;
  Instant opened{};
  net::Fd fd{};
  std::unique_ptr<net::TlsSession> tls{};
  std::unique_ptr<net::ResponseParser> parser = std::make_unique<net::ResponseParser>();
  std::string unsent{};  // of the request, before TLS
  std::size_t unsent_at = 0;
  std::unique_ptr<Seen> seen{};
};

Relay::Relay(RelayOptions options, Recorder& recorder, const Clock& clock)
    : options_(std::move(options)),
      host_(net::host_header(options_.server)),
      recorder_(recorder),
      clock_(clock),
      buffer_(kReceiveBytes),
      plain_(options_.tls != nullptr ? kReceiveBytes : 0) {}

Relay::~Relay() = default;

Relay::Link& Relay::link_of(net::ConnectionId connection) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= links_.size()) links_.resize(slot + 1);
  if (!links_[slot]) links_[slot] = std::make_unique<Link>();
  Link& link = *links_[slot];
  if (link.client != connection) drop(link);
  link.client = connection;
  link.slot = slot;
  return link;
}

void Relay::compose(const net::RequestHead& head, std::string_view body, std::string& out) const {
  const std::string_view target = origin_form(head.target);
  out += head.method;
  out += ' ';
  out += target;
  out += head.minor_version == 0 ? " HTTP/1.0\r\nHost: " : " HTTP/1.1\r\nHost: ";
  out += host_;
  out += "\r\n";
  for (const net::HttpHeader& header : head.headers) {
    if (is_ours(header.name)) continue;
    out += header.name;
    out += ": ";
    out += header.value;
    out += "\r\n";
  }
  if (head.minor_version == 0) out += "Connection: close\r\n";
  if (!body.empty() || !head.find("content-length").empty() || head.chunked) {
    out += format("Content-Length: {}\r\n", body.size());
  }
  out += "\r\n";
  out += body;
}

void Relay::on_request(net::ConnectionId connection, const net::RequestHead& head,
                       std::string_view body) {
  ++counts_.requests;
  Link& link = link_of(connection);
  set_busy(link, true);
  link.got_head = false;
  link.head_only = head.method == "HEAD";
  link.unsent.clear();
  link.unsent_at = 0;
  compose(head, body, link.unsent);
  link.seen = std::make_unique<Seen>();
  link.seen->arrived = clock_.now();
  link.parser->reset();
  if (link.state == Link::State::open) flush(link);
  // After the bytes are on their way, where there is one.
  link.seen->post = head.method == "POST";
  link.seen->path = head.path();
  if (link.seen->post) keep(*link.seen, body, link.seen->body);
  if (link.state != Link::State::closed) return;
  link.address = 0;
  connect(link);
}

void Relay::connect(Link& link) {
  std::string last = "it has no address";
  for (; link.address < options_.addresses.size(); ++link.address) {
    auto fd = net::start_connect(options_.addresses[link.address]);
    if (!fd) {
      last = fd.error().message;
      continue;
    }
    link.fd = std::move(*fd);
    if (const auto watched = server_->watch(link.fd, link.slot); !watched) {
      last = watched.error().message;
      link.fd.reset();
      continue;
    }
    net::set_no_delay(link.fd);
    net::enable_receive_stamps(link.fd);
    link.state = Link::State::connecting;
    link.opened = clock_.now();
    return;
  }
  fail(link, last);
}

void Relay::connected(Link& link) {
  const int error = net::connect_result(link.fd);
  if (error != 0) {
    link.fd.reset();
    link.state = Link::State::closed;
    if (++link.address < options_.addresses.size()) return connect(link);
    return fail(link, std::strerror(error));
  }
  link.state = Link::State::open;
  if (options_.tls != nullptr) {
    link.tls = std::make_unique<net::TlsSession>(*options_.tls, options_.server.host);
    link.state = Link::State::shaking;
    link.tls->handshake();
  }
  flush(link);
}

void Relay::flush(Link& link) {
  if (link.tls != nullptr && link.state == Link::State::open &&
      link.unsent_at < link.unsent.size()) {
    link.tls->write(link.unsent);  // where it fails, the next read says so
    link.unsent_at = link.unsent.size();
  }
  for (;;) {
    const std::string_view bytes = link.tls != nullptr
                                       ? link.tls->output()
                                       : std::string_view(link.unsent).substr(link.unsent_at);
    if (bytes.empty()) return;
    const ssize_t n = net::send_some(link.fd, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // later, or broken: then reading ends too
    if (link.tls != nullptr) {
      link.tls->consume(static_cast<std::size_t>(n));
    } else {
      link.unsent_at += static_cast<std::size_t>(n);
    }
  }
}

void Relay::on_descriptor(std::uint32_t key, std::uint32_t events) {
  if (key >= links_.size() || !links_[key] || !links_[key]->fd.open()) return;
  Link& link = *links_[key];
  if (link.state == Link::State::connecting) {
    if ((events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0) return;
    connected(link);
    if (link.state == Link::State::closed) return;
  } else if ((events & EPOLLOUT) != 0) {
    flush(link);
  }
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) == 0) return;
  link.readable = true;
  link.ending = (events & ~static_cast<std::uint32_t>(EPOLLIN | EPOLLOUT)) != 0;
  pump(link);
}

void Relay::pump(Link& link) {
  while (link.readable && link.fd.open()) {
    if (server_->accepted(link.client) - server_->handed(link.client) > kBehindMax) return;
    const net::Received got = net::receive_stamped(link.fd, buffer_.data(), kReceiveBytes);
    if (got.bytes < 0 && got.error == EINTR) continue;
    if (got.bytes < 0 && got.error == EAGAIN) {
      link.readable = false;
      return;
    }
    if (got.bytes <= 0) return ended(link, got.bytes < 0);
    arrived_ =
        got.stamp.ns == 0 ? Instant::none() : stamps_.arrival(got.stamp, link.opened, clock_.now());
    const auto bytes = static_cast<std::size_t>(got.bytes);
    // A read that leaves room has emptied the socket: what comes later is an edge of its own.
    if (bytes < kReceiveBytes && !link.ending) link.readable = false;
    const bool goes_on = take_received(link, {buffer_.data(), bytes});
    // The client's bytes went first. The server's ACK is not left to the kernel's timer: a server
    // without TCP_NODELAY would hold its next event back for it.
    if (link.fd.open()) net::acknowledge_now(link.fd);
    if (!goes_on) return;
  }
}

bool Relay::take_received(Link& link, std::string_view bytes) {
  if (link.tls == nullptr) return take(link, bytes);
  net::TlsSession& tls = *link.tls;
  tls.feed(bytes);
  if (link.state == Link::State::shaking) {
    const net::TlsSession::Step step = tls.handshake();
    flush(link);
    if (step == net::TlsSession::Step::failed) {
      fail(link, tls.error());
      return false;
    }
    if (step == net::TlsSession::Step::pending) return true;
    link.state = Link::State::open;
    flush(link);
  }
  for (;;) {
    const std::ptrdiff_t n = tls.read(plain_.data(), plain_.size());
    if (n < 0 || (n == 0 && tls.closed())) {
      ended(link, n < 0);
      return false;
    }
    if (n == 0) return true;
    if (!take(link, {plain_.data(), static_cast<std::size_t>(n)})) return false;
  }
}

bool Relay::take(Link& link, std::string_view bytes) {
  if (!link.busy) {  // nothing was asked
    server_->close(link.client);
    drop(link);
    return false;
  }
  const Instant now = clock_.now();
  std::string_view rest = bytes;
  pieces_.clear();
  const auto state = link.parser->feed(
      rest, [&link](const net::ResponseHead&) { link.got_head = true; },
      [this](std::string_view piece) { pieces_.push_back(piece); });
  const bool failed = state == net::ResponseParser::State::failed;
  // What is no HTTP passes too: the client judges it as it would without a proxy.
  if (!failed) bytes.remove_suffix(rest.size());
  if (server_->send(link.client, bytes) == net::HttpServer::Sent::gone) {
    ++counts_.gone;
    hand_over(link);
    drop(link);
    return false;
  }
  if (arrived_.known()) {
    added_.record(static_cast<std::uint64_t>(std::max((clock_.now() - arrived_).ns, INT64_C(0))));
    arrived_ = Instant::none();  // once a read
  }
  Seen& seen = *link.seen;
  if (!seen.first_byte.known()) seen.first_byte = now;
  if (link.got_head && seen.status == 0) {
    const net::ResponseHead& head = link.parser->head();
    seen.status = head.status;
    seen.event_stream = head.type == net::ContentType::event_stream;
    seen.coded = head.coding != net::ContentCoding::identity;
  }
  for (const std::string_view piece : pieces_) {
    if (!seen.post) break;
    keep(seen, piece, seen.reply);
    if (!seen.cut) seen.pieces.emplace_back(now, static_cast<std::uint32_t>(piece.size()));
  }
  seen.ended = now;
  if (failed) {
    ended(link, false);
    return false;
  }
  const bool over =
      state == net::ResponseParser::State::complete || (link.head_only && link.got_head);
  if (!over) return true;
  complete(link);
  return false;
}

void Relay::complete(Link& link) {
  ++counts_.whole;
  link.seen->whole = true;
  const bool keep = link.parser->head().keep_alive && link.unsent_at == link.unsent.size();
  const net::ConnectionId client = link.client;
  hand_over(link);
  if (!keep) drop(link);
  server_->finish(client, keep);
}

// The server has closed its side, or broken the connection.
void Relay::ended(Link& link, bool reset) {
  const net::ConnectionId client = link.client;
  if (link.busy && !reset && link.parser->end_of_input() == net::ResponseParser::State::complete) {
    ++counts_.whole;
    link.seen->whole = true;
    link.seen->ended = clock_.now();
    hand_over(link);
    drop(link);
    return server_->close(client);
  }
  if (link.busy) {
    ++counts_.broken;
    hand_over(link);
  }
  drop(link);
  reset ? server_->reset(client) : server_->close(client);
}

void Relay::fail(Link& link, std::string_view why) {
  const net::ConnectionId client = link.client;
  ++counts_.unreached;
  hand_over(link);
  drop(link);
  const std::string body =
      Json()
          .set("error", Json()
                            .set("message", format("assay proxy: {}: {}", host_, why))
                            .set("type", "proxy_error")
                            .set("code", 502))
          .dump();
  std::string out;
  net::append_head(out, {.status = 502,
                         .content_type = "application/json",
                         .length = body.size(),
                         .keep_alive = false});
  if (server_->send(client, out + body) != net::HttpServer::Sent::gone) server_->close(client);
}

void Relay::keep(Seen& seen, std::string_view bytes, std::string& where) {
  if (seen.cut || where.size() + bytes.size() > kTextKeptMax ||
      kept_bytes_ + bytes.size() > kKeptAllMax) {
    seen.cut = true;
    return;
  }
  where += bytes;
  kept_bytes_ += bytes.size();
}

void Relay::hand_over(Link& link) {
  if (link.seen) {
    kept_bytes_ -= link.seen->body.size() + link.seen->reply.size();
    recorder_.record(std::move(link.seen));
  }
  link.seen = nullptr;
  set_busy(link, false);
}

void Relay::set_busy(Link& link, bool busy) {
  if (busy != link.busy) busy_ = busy ? busy_ + 1 : busy_ - 1;
  link.busy = busy;
}

void Relay::drop(Link& link) {
  const std::uint32_t slot = link.slot;
  set_busy(link, false);
  link = Link{};
  link.slot = slot;
}

void Relay::on_gone(net::ConnectionId connection) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= links_.size() || !links_[slot] || links_[slot]->client != connection) return;
  Link& link = *links_[slot];
  if (link.busy) ++counts_.gone;
  hand_over(link);
  drop(link);
}

void Relay::on_progress(net::ConnectionId connection, std::uint64_t) {
  const std::uint32_t slot = net::slot_of(connection);
  if (slot >= links_.size() || !links_[slot] || links_[slot]->client != connection) return;
  pump(*links_[slot]);
}

void Relay::end() {
  for (const std::unique_ptr<Link>& one : links_) {
    if (!one || !one->busy) continue;
    ++counts_.stopped;
    hand_over(*one);
    drop(*one);
  }
}

Instant Relay::on_turn(Instant now) {
  if (now >= next_look_) look(now);
  return options_.spin && busy_ > 0 ? now : next_look_;
}

void Relay::look(Instant now) {
  next_look_ = now + kLookEvery;
  stamps_.refresh();
  for (const std::unique_ptr<Link>& one : links_) {
    if (!one || !one->fd.open()) continue;
    if (!server_->alive(one->client)) {
      drop(*one);  // an idle client has left
    } else if (one->state != Link::State::open && now - one->opened > options_.connect_timeout) {
      fail(*one, "it did not answer in time");
    }
  }
}

}  // namespace assay::proxy
