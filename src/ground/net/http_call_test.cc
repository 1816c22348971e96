#include "net/http_call.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "base/testing_temp_folder.h"
#include "net/http_reply.h"
#include "net/http_server.h"
#include "net/testing_http2.h"

namespace assay::net {
namespace {

// Says a request back: "PATH BODY", and in front the method where it is no POST or GET, and the
// field x-own. Where the body is "reset", the request has no answer.
class CallEcho final : public HttpService {
 public:
  void on_request(ConnectionId connection, const RequestHead& head,
                  std::string_view body) override {
    if (body == "reset") return server->reset(connection);
    if (body == "grpc") {
      server->send(connection,
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
                   "grpc-status: 5\r\ngrpc-message: none\r\n\r\n");
      return server->finish(connection, true);
    }
    if (body == "bytes") {
      server->send(connection, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n");
      for (const std::string_view byte : {"a", "b", "c"}) server->send(connection, byte);
      return server->finish(connection, true);
    }
    std::string text = std::string(head.target) + " " + std::string(body);
    if (head.method != "POST" && head.method != "GET") text = std::string(head.method) + " " + text;
    text += head.find("x-own");
    std::string bytes;
    append_head(
        bytes,
        {.status = body == "no" ? 409 : 200, .length = text.size(), .keep_alive = head.keep_alive});
    server->send(connection, bytes + text);
    server->finish(connection, head.keep_alive);
  }
  void on_gone(ConnectionId) override {}
  void on_progress(ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant now) override { return now + 500_ms; }

  HttpServer* server = nullptr;
};

class CallServer {
 public:
  explicit CallServer(const TlsContext* tls = nullptr,
                      const Address& where = *Address::numeric("127.0.0.1", 0)) {
    Fd listener = std::move(*listen_on(where, {}));
    port_ = local_address(listener)->port();
    server_ = std::move(*HttpServer::open(std::move(listener),
                                          {.tls = tls, .http2 = tls == nullptr}, echo_, clock_));
    echo_.server = server_.get();
    thread_ = std::thread([this] { server_->run(); });
  }
  ~CallServer() {
    server_->stop();
    thread_.join();
  }
  std::string url(const std::string& scheme, const std::string& path) const {
    return scheme + "://127.0.0.1:" + std::to_string(port_) + path;
  }

 private:
  OsClock clock_{};
  CallEcho echo_{};
  std::uint16_t port_ = 0;
  std::unique_ptr<HttpServer> server_{};
  std::thread thread_{};
};

const OsClock kCallClock;

TEST(HttpCall, brings_a_body_there_and_the_reply_back) {
  const CallServer server;
  const std::string large(10'000'000, 'x');  // more than both ends' kernels hold
  const auto reply =
      http_call({.method = "POST", .url = *parse_url(server.url("http", "/a?b=c")), .body = large},
                kCallClock);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->status, 200);
  EXPECT_EQ(reply->body, "/a?b=c " + large);
  EXPECT_EQ(http_call({.method = "POST", .url = *parse_url(server.url("http", "/")), .body = "no"},
                      kCallClock)
                ->status,
            409);
}

TEST(HttpCall, a_reply_beyond_its_limit_is_an_error) {
  const CallServer server;
  const auto reply = http_call({.method = "POST",
                                .url = *parse_url(server.url("http", "/")),
                                .body = std::string(1000, 'x'),
                                .reply_bytes_max = 1000},
                               kCallClock);
  EXPECT_EQ(reply.error().code, Code::corrupt);
}

TEST(HttpCall, speaks_tls_and_only_with_a_server_whose_certificate_it_trusts) {
  std::string certificate;
  const TlsContext context = *TlsContext::self_signed_server(&certificate, false);
  const CallServer server(&context);
  const TempFolder folder;
  const std::string file = (folder.path() / "ca.pem").string();
  std::ofstream(file) << certificate;
  HttpCall call{.url = *parse_url(server.url("https", "/x")), .ca_file = file};
  const auto reply = http_call(call, kCallClock);
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->body, "/x ");
  call.body = "bytes";
  EXPECT_EQ(http_call(call, kCallClock)->body, "abc") << "a record each";
  call.ca_file = "";
  EXPECT_EQ(http_call(call, kCallClock).error().code, Code::refused);
}

TEST(HttpCall, says_where_nothing_listens) {
  Fd listener = std::move(*listen_on(*Address::numeric("127.0.0.1", 0), {}));
  const std::string url = "http://127.0.0.1:" + std::to_string(local_address(listener)->port());
  // A listener that never accepts: the call ends by its own limit.
  EXPECT_EQ(http_call({.url = *parse_url(url), .timeout = 1_ms}, kCallClock).error().code,
            Code::timed_out);
  listener.reset();
  const std::string refused = http_call({.url = *parse_url(url)}, kCallClock).error().message;
  EXPECT_EQ(refused.find("connect to 127.0.0.1:"), 0U) << refused;
  EXPECT_NE(refused.find("Connection refused"), std::string::npos) << refused;
  const TempFolder folder;
  const std::string path = (folder.path() / "none").string();
  const auto missing = http_call({.url = *parse_url("http+unix://" + path + ":/x")}, kCallClock);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message.find("cannot connect to unix:" + path), 0U)
      << missing.error().message;
}

TEST(HttpCall, sends_its_method_and_its_fields_over_either_version) {
  const CallServer server;
  const HttpCall call{.method = "PATCH",
                      .url = *parse_url(server.url("http", "/a?b=c")),
                      .headers = {{"x-own", "!"}},
                      .body = "words"};
  for (const auto& reply : {http_call(call, kCallClock), http2_call(call, kCallClock)}) {
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->body, "PATCH /a?b=c words!");
    EXPECT_EQ(reply->grpc_status, -1);
  }
  HttpCall grpc = call;
  grpc.body = "grpc";
  const auto told = http2_call(grpc, kCallClock);
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->body, "a");
  EXPECT_EQ(told->grpc_status, 5);
  EXPECT_EQ(told->grpc_message, "none");
  HttpCall plain = call;
  plain.url = *parse_url(server.url("http", "/a"));
  plain.body = "no";
  for (const auto& reply : {http_call(plain, kCallClock), http2_call(plain, kCallClock)}) {
    EXPECT_EQ(reply->status, 409);
    EXPECT_EQ(reply->body, "PATCH /a no!");
  }
}

TEST(HttpCall, a_reply_may_be_as_long_as_its_limit_and_no_byte_longer) {
  const CallServer server;
  for (auto* const ask : {http_call, http2_call}) {
    HttpCall call{.method = "POST",
                  .url = *parse_url(server.url("http", "/")),
                  .body = std::string(100'000, 'x'),
                  .reply_bytes_max = 100'002};
    EXPECT_EQ(ask(call, kCallClock)->body.size(), 100'002U);
    call.reply_bytes_max = 100'001;
    const auto reply = ask(call, kCallClock);
    ASSERT_FALSE(reply);
    EXPECT_EQ(reply.error().code, Code::corrupt);
    EXPECT_EQ(reply.error().message, "127.0.0.1: a reply of more than 100001 bytes");
  }
}

// A clock that moves by a step each time that it is read, up to a last instant.
class SteppingClock final : public Clock {
 public:
  SteppingClock(Duration step, Duration last) : step_(step), last_(Instant{} + last) {}
  Instant now() const override {
    const Instant read = now_;
    now_ = std::min(now_ + step_, last_);
    return read;
  }
  void sleep_until(Instant) override {}
  Duration spin_window() const override { return {}; }

 private:
  Duration step_;
  Instant last_;
  mutable Instant now_{};
};

TEST(HttpCall, a_peer_that_says_nothing_has_the_whole_time_and_no_more) {
  const Fd silent = std::move(*listen_on(*Address::numeric("127.0.0.1", 0), {}));
  const std::string url = "http://127.0.0.1:" + std::to_string(local_address(silent)->port());
  const auto says = [&](const Clock& clock, Duration timeout) {
    return http_call({.url = *parse_url(url), .timeout = timeout}, clock).error().message;
  };
  const SteppingClock fine(300_us, 10_ms);  // its end is the very end of the time
  EXPECT_TRUE(says(fine, 10_ms).ends_with(": nothing came in 0 s"));
  EXPECT_EQ(fine.now(), Instant{} + 10_ms);
  const SteppingClock coarse(20_s, 1000_s);
  EXPECT_TRUE(says(coarse, 7_s).ends_with(": nothing came in 7 s"));
}

TEST(HttpCall, goes_to_a_unix_socket) {
  const TempFolder folder;
  const std::string path = (folder.path() / "s").string();
  const CallServer server(nullptr, *Address::unix_path(path));
  const auto reply = http_call({.url = *parse_url("http+unix://" + path + ":/x")}, kCallClock);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(reply->body, "/x ");
}

TEST(HttpCall, a_stream_that_the_server_resets_and_a_server_without_http2_are_errors) {
  const CallServer server;
  HttpCall call{.method = "POST", .url = *parse_url(server.url("http", "/")), .body = "reset"};
  const auto reset = http2_call(call, kCallClock);
  ASSERT_FALSE(reset);
  EXPECT_EQ(reset.error().code, Code::io);
  EXPECT_EQ(reset.error().message.find("127.0.0.1: HTTP/2 stream reset: "), 0U);
  const auto gone = http_call(call, kCallClock);
  ASSERT_FALSE(gone);
  EXPECT_NE(gone.error().message.find("receive from 127.0.0.1:"), std::string::npos)
      << gone.error().message;
  const TlsContext old = *TlsContext::self_signed_server(nullptr, false);
  const TlsContext both = *TlsContext::self_signed_server(nullptr, true);
  const CallServer secure(&old);
  const CallServer newer(&both);
  call = {.url = *parse_url(secure.url("https", "/x")), .insecure = true};
  EXPECT_EQ(http_call(call, kCallClock)->body, "/x ");
  const auto refused = http2_call(call, kCallClock);
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_TRUE(refused.error().message.ends_with("does not speak HTTP/2 (ALPN)"));
  call.url = *parse_url(newer.url("https", "/x"));
  EXPECT_EQ(http2_call(call, kCallClock)->body, "/x ");
  EXPECT_EQ(http_call(call, kCallClock)->body, "/x ");
}

// Takes one connection, reads until what came ends with `until`, answers with `bytes` and ends it.
class OneAnswer {
 public:
  OneAnswer(std::string until, std::string bytes) {
    Fd listener = std::move(*listen_on(*Address::numeric("127.0.0.1", 0), {}));
    url = "http://127.0.0.1:" + std::to_string(local_address(listener)->port());
    thread_ = std::thread(
        [this, until = std::move(until), bytes = std::move(bytes), fd = std::move(listener)] {
          pollfd entry{.fd = fd.get(), .events = POLLIN, .revents = 0};
          if (::poll(&entry, 1, 10'000) != 1) return;
          const Fd peer = std::move(*accept_one(fd));
          entry.fd = peer.get();
          char buffer[4096];
          do {
            if (::poll(&entry, 1, 10'000) != 1) return;
            const ssize_t n = ::recv(peer.get(), buffer, sizeof buffer, 0);
            if (n <= 0) return;
            request_.append(buffer, static_cast<std::size_t>(n));
          } while (!request_.ends_with(until));
          ::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        });
  }
  ~OneAnswer() {
    if (thread_.joinable()) thread_.join();
  }
  std::string request() {
    thread_.join();
    return request_;
  }
  std::string url{};

 private:
  std::string request_{};
  std::thread thread_{};
};

std::string answered_with(const std::string& bytes) {
  const OneAnswer server("\r\n\r\n", bytes);
  const auto reply = http_call({.url = *parse_url(server.url)}, kCallClock);
  return reply ? reply->body : reply.error().message;
}

TEST(HttpCall, a_peer_that_ends_before_it_took_the_request_is_named) {
  for (auto* const ask : {http_call, http2_call}) {
    const OneAnswer server("", "");
    const auto reply =
        ask({.method = "POST", .url = *parse_url(server.url), .body = std::string(10'000'000, 'x')},
            kCallClock);
    ASSERT_FALSE(reply);
    EXPECT_NE(reply.error().message.find("127.0.0.1"), std::string::npos) << reply.error().message;
  }
}

TEST(HttpCall, says_how_a_reply_that_is_none_is_wrong) {
  EXPECT_EQ(answered_with("HTTP/1.1 200 OK\r\n\r\nto the end"), "to the end");
  EXPECT_EQ(answered_with("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"),
            "127.0.0.1: the connection ended inside the reply");
  EXPECT_EQ(answered_with(""), "127.0.0.1: the connection ended inside the reply");
  EXPECT_EQ(answered_with("SSH-2.0-x\r\n"), "127.0.0.1: this port speaks SSH");
  const OneAnswer old("", "HTTP/1.1 400 Bad\r\n\r\n");
  const auto reply = http2_call({.url = *parse_url(old.url)}, kCallClock);
  ASSERT_FALSE(reply);
  EXPECT_NE(reply.error().message.find("answers in HTTP/1"), std::string::npos)
      << reply.error().message;
  const OneAnswer pushes("", settings() + frame(Http2FrameType::push_promise, kEndHeaders, 1,
                                                big_endian(2) + kStatus200));
  const auto pushed = http2_call({.url = *parse_url(pushes.url)}, kCallClock);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, Code::corrupt);
  EXPECT_TRUE(pushed.error().message.starts_with("127.0.0.1: HTTP/2: PROTOCOL_ERROR: PUSH_PROMISE"))
      << pushed.error().message;
}

TEST(HttpCall, a_length_is_sent_with_a_body_and_with_every_method_that_may_have_one) {
  const auto request_of_call = [](const std::string& method, const std::string& body) {
    OneAnswer server(body.empty() ? "\r\n\r\n" : body, "HTTP/1.1 204 X\r\n\r\n");
    EXPECT_TRUE(http_call({.method = method,
                           .url = *parse_url(server.url + "/p?q"),
                           .headers = {{"A", "b"}},
                           .body = body},
                          kCallClock));
    const std::string host = server.url.substr(7);
    std::string out = server.request();
    return out.replace(out.find(host), host.size(), "HOST");
  };
  const std::string fields = "Host: HOST\r\nA: b\r\n";
  EXPECT_EQ(request_of_call("GET", ""),
            "GET /p?q HTTP/1.1\r\n" + fields + "Connection: close\r\n\r\n");
  EXPECT_EQ(request_of_call("POST", ""),
            "POST /p?q HTTP/1.1\r\n" + fields + "Content-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(request_of_call("GET", "xyz"),
            "GET /p?q HTTP/1.1\r\n" + fields + "Content-Length: 3\r\nConnection: close\r\n\r\nxyz");
}

TEST(HttpCall, a_peer_that_ends_or_garbles_the_handshake_is_named) {
  const auto shaken_by = [](const std::string& bytes) {
    const OneAnswer server("", bytes);
    const std::string url = "https" + server.url.substr(4);
    return http_call({.url = *parse_url(url), .insecure = true}, kCallClock).error().message;
  };
  EXPECT_TRUE(shaken_by("no record of TLS").starts_with("TLS with 127.0.0.1:"));
  EXPECT_TRUE(shaken_by("").ends_with(" closed the connection"));
}

// Shakes hands with one peer, reads its request, says `plain` and ends the connection without the
// words for it.
void answer_by_tls(const Fd& listener, const TlsContext& context, std::string_view plain) {
  pollfd entry{.fd = listener.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&entry, 1, 10'000), 1);
  const Fd peer = std::move(*accept_one(listener));
  entry.fd = peer.get();
  TlsSession session(context, "");
  const auto send_out = [&] {
    const std::string out(session.output());
    session.consume(out.size());
    ::send(peer.get(), out.data(), out.size(), MSG_NOSIGNAL);
  };
  std::string request;
  bool shaken = false;
  while (!request.ends_with("\r\n\r\n")) {
    ASSERT_EQ(::poll(&entry, 1, 10'000), 1);
    char buffer[4096];
    const ssize_t n = ::recv(peer.get(), buffer, sizeof buffer, 0);
    ASSERT_GT(n, 0);
    session.feed({buffer, static_cast<std::size_t>(n)});
    if (!shaken) {
      const TlsSession::Step step = session.handshake();
      ASSERT_NE(step, TlsSession::Step::failed) << session.error();
      shaken = step == TlsSession::Step::done;
      send_out();
    }
    for (std::ptrdiff_t m = 1; shaken && m > 0;) {
      m = session.read(buffer, sizeof buffer);
      if (m > 0) request.append(buffer, static_cast<std::size_t>(m));
    }
  }
  ASSERT_TRUE(session.write(plain));
  send_out();
}

TEST(HttpCall, a_tls_connection_that_is_cut_off_ends_the_call) {
  const TlsContext context = *TlsContext::self_signed_server(nullptr, false);
  for (const auto& [plain, wanted] : {std::pair{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab",
                                                "127.0.0.1: the connection ended inside the reply"},
                                      {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "ab"}}) {
    const Fd listener = std::move(*listen_on(*Address::numeric("127.0.0.1", 0), {}));
    const std::string url = "https://127.0.0.1:" + std::to_string(local_address(listener)->port());
    std::thread server([&, bytes = plain] { answer_by_tls(listener, context, bytes); });
    const auto reply = http_call({.url = *parse_url(url), .insecure = true}, kCallClock);
    server.join();
    EXPECT_EQ(reply ? reply->body : reply.error().message, wanted);
  }
}

}  // namespace
}  // namespace assay::net
