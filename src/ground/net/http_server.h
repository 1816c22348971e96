// HttpServer: one thread's share of a server of HTTP/1.1 and HTTP/2: a listener, its connections,
// and a loop.
//
// Threads share nothing: each has its own server on the same port (ListenOptions::reuse_port) and
// the kernel spreads connections over them. A connection costs some 300 bytes here, and streaming
// allocates nothing for it, so ten thousand open streams are cheap. Pipelined requests of one
// connection are answered one at a time and in order; while a reply is under way, its connection
// reads nothing more.
//
// Where the options allow it, a connection may speak HTTP/2, by prior knowledge, or by ALPN. Each
// of its streams is a connection to the service, with one request, whose reply is written as
// HTTP/1.1 too (http2_reply.h). Its close() and reset() end the stream alone.
//
// The service writes its replies as bytes (http_reply.h helps), because a measuring endpoint
// decides what goes into one write(). A peer that closes its sending side while its reply is under
// way counts as gone, as with uvicorn, which most inference servers use.
//
// All functions but stop() belong to the thread that calls run().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "net/http1_request.h"
#include "net/poller.h"
#include "net/socket.h"
#include "net/tls.h"

namespace assay::net {

// Padding that simdjson needs.
inline constexpr std::size_t kBodyPadding = kRequestPadding;

// A connection while it lives; calls with the id of a dead one are ignored.
using ConnectionId = std::uint64_t;
// Small numbers, reused after a connection has ended: an index for the service's own tables.
inline std::uint32_t slot_of(ConnectionId id) { return static_cast<std::uint32_t>(id); }

class HttpService {
 public:
  virtual ~HttpService() = default;

  // A whole request. Answer it with send() and finish(), or with close() or reset(), now or later.
  // The views end when this returns; kBodyPadding bytes behind the body may be read.
  virtual void on_request(ConnectionId connection, const RequestHead& head,
                          std::string_view body) = 0;
  // The bytes of a read on a connection that upgrade() made one of another protocol; kBodyPadding
  // bytes behind them may be read.
  virtual void on_bytes(ConnectionId, std::string_view) {}
  // The peer left before its reply was finished. The id is dead.
  virtual void on_gone(ConnectionId connection) = 0;
  // The kernel took queued bytes; `handed` counts the connection's bytes so far.
  virtual void on_progress(ConnectionId connection, std::uint64_t handed) = 0;
  // Called once a turn of the loop, and between events of a long turn: does what is due and returns
  // when it next wants a call. It should return within about a millisecond.
  virtual Instant on_turn(Instant now) = 0;
  // A descriptor of the service's own is ready, as HttpServer::watch() asked; `events` are epoll's.
  virtual void on_descriptor(std::uint32_t /*key*/, std::uint32_t /*events*/) {}
};

struct HttpServerOptions {
  RequestLimits limits{};
  Duration idle_max{75'000'000'000};          // without a request; then a connection is closed
  std::size_t pending_bytes_max = 256 << 20;  // beyond it, a peer that does not read is cut off
  const TlsContext* tls = nullptr;
  // Takes HTTP/2 by prior knowledge. With TLS the context's ALPN decides.
  bool http2 = false;
};

class HttpServer {
 public:
  // Other servers of the process may share `listener` by dup(). `service` and `clock` must outlive
  // the server.
  static Result<std::unique_ptr<HttpServer>> open(Fd listener, const HttpServerOptions& options,
                                                  HttpService& service, const Clock& clock);
  ~HttpServer();

  // Runs until stop(), which closes all connections at once.
  void run();
  // Any thread; safe in a signal handler.
  void stop();

  // ---- for the service ----

  enum class Sent : std::uint8_t {
    handed,  // the kernel has taken all of it
    queued,  // it waits until the peer reads; on_progress() follows
    gone,    // the connection is dead; on_gone() is not called for it
  };
  // Sends all parts in one system call.
  Sent send(ConnectionId connection, std::span<const std::string_view> parts);
  Sent send(ConnectionId connection, std::string_view bytes) {
    return send(connection, {&bytes, 1});
  }
  // Prefetches what send() needs: with thousands of streams it is not in the cache.
  void prefetch(ConnectionId connection) const;
  // Bytes given to send() on this connection so far, and those of them that the kernel took.
  std::uint64_t accepted(ConnectionId connection) const;
  std::uint64_t handed(ConnectionId connection) const;
  // When this turn of the loop began to handle ready events: no write of the turn is earlier.
  Instant turn_start() const { return now_; }

  // What follows on this connection is no HTTP: its bytes go to on_bytes(), and it lives until one
  // side closes it. REQUIRES: a request of it is being answered.
  void upgrade(ConnectionId connection);
  // The reply is complete: the connection reads the next request if both sides keep it.
  void finish(ConnectionId connection, bool keep_alive);
  // Sends what is queued, then ends the connection normally (FIN).
  void close(ConnectionId connection);
  // Discards what is queued and resets the connection (RST).
  void reset(ConnectionId connection);

  std::size_t connections() const { return live_; }
  bool alive(ConnectionId connection) const { return find(connection) != nullptr; }

  // Watches a descriptor of the service's own, edge-triggered for everything; closing it ends that.
  // An event of a descriptor that was closed in the same turn may still come.
  // REQUIRES: key < 2^31.
  Result<void> watch(const Fd& fd, std::uint32_t key);

 private:
  enum class State : std::uint8_t {
    handshake,  // of TLS
    reading,    // no request is being answered
    replying,
    upgraded,  // of another protocol
    closing,   // queued bytes go out, then FIN
    lingering  // FIN is out; input is discarded so that the kernel does not send RST
  };
  struct Connection;
  struct OfStream;
  struct Http2;

  HttpServer(Poller poller, Fd listener, const HttpServerOptions& options, HttpService& service,
             const Clock& clock);

  Connection* find(ConnectionId id);
  const Connection* find(ConnectionId id) const;
  Connection& free_slot();
  void accept_waiting();
  void adopt(Fd fd);
  void on_event(const epoll_event& event);
  // Reads and answers until nothing is left to read or a reply is under way.
  void pump(Connection& connection);
  // The connection's next bytes; "" when there are none, or it is dead.
  std::string_view read_tls(Connection& connection);
  std::string_view receive_some(Connection& connection);
  void take(Connection& connection, std::string_view bytes);
  void pass_on(Connection& connection, std::string_view bytes);
  void refuse(Connection& connection, RequestError error);
  void flush(Connection& connection);
  void flush_plain(Connection& connection);
  // False when the connection broke.
  bool flush_tls(Connection& connection);
  Sent send_plain(Connection& connection, std::span<const std::string_view> parts,
                  std::size_t total);
  Sent send_tls(Connection& connection, std::span<const std::string_view> parts);
  void after_flush(Connection& connection);
  void begin_linger(Connection& connection);
  // The connection is over; calls on_gone() if a reply was under way.
  void lose(Connection& connection);
  void destroy(Connection& connection);
  // HTTP/2, in http_server_http2.cc.
  bool may_begin_http2(const Connection& connection, std::string_view bytes) const;
  bool begin_http2(Connection& connection);
  void take_http2(Connection& connection, std::string_view bytes);
  void answer_streams(Connection& connection);
  Sent send_on_stream(Connection& stream, std::span<const std::string_view> parts,
                      std::size_t total);
  // Both send what the session has to say; false when the connection broke.
  bool flush_http2(Connection& connection);
  bool go_on_http2(Connection& connection);
  void end_stream(Connection& stream);
  void reset_stream(Connection& stream);
  // `tell`: the service does not know of it yet.
  void drop_stream(Connection& stream, bool tell);
  void lose_streams(Connection& connection);
  static bool carries_streams(const Connection& connection);
  void sweep(Instant now);
  void resume_waiting();

  Poller poller_;
  Fd listener_;
  HttpServerOptions options_;
  HttpService& service_;
  const Clock& clock_;
  std::deque<Connection> slots_;  // a deque keeps each Connection& valid
  std::vector<std::uint32_t> free_{};
  std::vector<ConnectionId> resume_{};  // finished outside on_request(), with more to read
  std::vector<char> buffer_;
  std::vector<char> plain_;  // TLS only
  RequestHead head_{};
  std::size_t live_ = 0;
  bool accepting_ = true;
  Instant now_{};
  Instant next_sweep_{};
  std::atomic<bool> stopping_{false};
};

}  // namespace assay::net
