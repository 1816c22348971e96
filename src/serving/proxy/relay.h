// Relay: the forwarding half of `assay proxy`. It stands before one server, passes HTTP/1.1 in both
// directions, and hands each exchange, with its instants, to a Recorder.
//
// Each client's connection has one to the server, opened at its first request and closed with it: a
// client sees the keep-alive, the ends and the resets that the server gives. A request is read
// whole (64 MiB of body at most), then sent with the server's Host and a Content-Length, without
// hop-by-hop fields; Upgrade is one of these, so there is no WebSocket. A reply's bytes pass as
// they come, each read at once and unchanged. A client that reads slowly holds back its own reply
// alone.
//
// As an HttpService it belongs to the server's thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/histogram.h"
#include "net/http1_response.h"
#include "net/http_server.h"
#include "net/receive.h"
#include "net/tls.h"
#include "net/url.h"
#include "proxy/recorder.h"

namespace assay::proxy {

struct RelayOptions {
  net::Url server{};  // its path is "/"
  std::vector<net::Address> addresses{};
  const net::TlsContext* tls = nullptr;  // for an https server
  Duration connect_timeout{10'000'000'000};
  bool spin = false;  // never sleep while a request is under way: a core for less delay
};

struct RelayCounts {
  std::uint64_t requests = 0;
  std::uint64_t whole = 0;      // replies that came to their end
  std::uint64_t broken = 0;     // the server ended or broke them
  std::uint64_t gone = 0;       // the client left before the end
  std::uint64_t unreached = 0;  // no connection to the server: HTTP 502
  std::uint64_t stopped = 0;    // under way when the proxy ended
};

class Relay final : public net::HttpService {
 public:
  Relay(RelayOptions options, Recorder& recorder, const Clock& clock);
  ~Relay() override;
  // Before the server runs.
  void use(net::HttpServer& server) { server_ = &server; }
  // After the server's thread has ended: what is under way is recorded as far as it came.
  void end();
  const RelayCounts& counts() const { return counts_; }
  // ns from the kernel's receive stamp of each read's last byte to the end of the write that passed
  // it on: what this process adds to each event, its wake-up included. Any thread may read it.
  const Histogram& added() const { return added_; }

  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override;
  void on_gone(net::ConnectionId connection) override;
  void on_progress(net::ConnectionId connection, std::uint64_t handed) override;
  Instant on_turn(Instant now) override;
  void on_descriptor(std::uint32_t key, std::uint32_t events) override;

 private:
  struct Link;

  Link& link_of(net::ConnectionId connection);
  void compose(const net::RequestHead& head, std::string_view body, std::string& out) const;
  void connect(Link& link);
  void connected(Link& link);
  void flush(Link& link);
  void pump(Link& link);
  // Each returns false when the link is closed, or idle again.
  bool take_received(Link& link, std::string_view bytes);
  bool take(Link& link, std::string_view bytes);
  void complete(Link& link);
  void ended(Link& link, bool reset);
  void fail(Link& link, std::string_view why);
  // Keeps bytes for the record of an exchange, or gives that record up.
  void keep(Seen& seen, std::string_view bytes, std::string& where);
  void hand_over(Link& link);
  void set_busy(Link& link, bool busy);
  // Once a second: clients that left, connections that do not open.
  void look(Instant now);
  void drop(Link& link);

  const RelayOptions options_;
  const std::string host_;
  Recorder& recorder_;
  const Clock& clock_;
  net::HttpServer* server_ = nullptr;
  std::vector<std::unique_ptr<Link>> links_{};  // by the client connection's slot
  std::vector<char> buffer_;
  std::vector<char> plain_;
  std::vector<std::string_view> pieces_{};
  Instant next_look_{};
  std::size_t kept_bytes_ = 0;  // of the exchanges under way
  std::size_t busy_ = 0;        // links with a request under way
  net::StampClock stamps_{};
  Instant arrived_ = Instant::none();  // of the read that is being passed on; none: no stamp
  Histogram added_{};
  RelayCounts counts_{};
};

}  // namespace assay::proxy
