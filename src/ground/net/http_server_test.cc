#include "net/http_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <thread>

#include "base/format.h"
#include "net/http2_client.h"
#include "net/http_reply.h"
#include "net/testing_client.h"

namespace assay::net {
namespace {

// Answers by path: /now at once · /later on the next turn · /never without a reply · /big with a
// megabyte · /close without keep-alive · /reset · /raw as another protocol, which says each read
// back between brackets.
class EchoService final : public HttpService {
 public:
  HttpServer* server = nullptr;
  int gone = 0;
  int requests = 0;
  std::uint64_t progressed = 0;
  std::function<void()> on_gone_hook{};

  void on_request(ConnectionId id, const RequestHead& head, std::string_view body) override {
    ++requests;
    const std::string_view path = head.path();
    const std::string text = format("{} {} {}", head.method, path, body);
    if (path == "/later") {
      later_[id] = text;
    } else if (path == "/big") {
      reply(id, std::string(1 << 20, 'b'), true);
    } else if (path == "/reset") {
      server->reset(id);
    } else if (path == "/raw") {
      server->upgrade(id);
      server->send(id, "raw:");
    } else if (path != "/never") {
      reply(id, text, path != "/close");
    }
  }
  void on_bytes(ConnectionId id, std::string_view bytes) override {
    server->send(id, format("[{}]", bytes));
    if (bytes.ends_with("close")) server->close(id);
    if (bytes.ends_with("reset")) server->reset(id);
  }
  void on_gone(ConnectionId id) override {
    ++gone;
    later_.erase(id);
    if (on_gone_hook) on_gone_hook();
  }
  void on_progress(ConnectionId, std::uint64_t handed) override { progressed = handed; }
  Instant on_turn(Instant) override {
    const auto due = std::exchange(later_, {});
    for (const auto& [id, text] : due) reply(id, text, true);
    return Instant::max();
  }

 private:
  void reply(ConnectionId id, std::string_view text, bool keep) {
    std::string out;
    append_head(out, {.content_type = "text/plain", .length = text.size(), .keep_alive = keep});
    const std::string_view parts[] = {out, text};
    const HttpServer::Sent sent = server->send(id, parts);
    if (sent == HttpServer::Sent::handed) {
      EXPECT_EQ(server->handed(id), server->accepted(id));
    }
    if (sent != HttpServer::Sent::gone) server->finish(id, keep);
  }
  std::map<ConnectionId, std::string> later_{};
};

class HttpServerTest : public testing::Test {
 protected:
  void start(const Address& where, const HttpServerOptions& options = {}) {
    auto listener = listen_on(where, {});
    ASSERT_TRUE(listener) << listener.error().message;
    address_.emplace_back(*local_address(*listener));
    auto server = HttpServer::open(std::move(*listener), options, service_, clock_);
    ASSERT_TRUE(server);
    server_ = std::move(*server);
    service_.server = server_.get();
    thread_ = std::thread([this] { server_->run(); });
  }
  void SetUp() override { address_.reserve(1); }
  void TearDown() override { stop(); }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }
  const Address& address() const { return address_.front(); }

  OsClock clock_{};
  EchoService service_{};
  std::unique_ptr<HttpServer> server_{};
  std::thread thread_{};
  std::vector<Address> address_{};
};

// A clock that only requests move, and the number of turns before each request.
class TurnsService final : public HttpService {
 public:
  HttpServer* server = nullptr;
  SimClock clock{};
  std::vector<int> turns_before{};
  std::atomic<int> turns{0};

  void on_request(ConnectionId id, const RequestHead&, std::string_view) override {
    turns_before.push_back(turns);
    EXPECT_EQ(server->turn_start(), clock.now());
    clock.sleep_until(clock.now() + 200_us);
    std::string out;
    append_head(out, {.content_type = "text/plain", .length = 0, .keep_alive = true});
    if (server->send(id, out) != HttpServer::Sent::gone) server->finish(id, true);
  }
  void on_gone(ConnectionId) override {}
  void on_progress(ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant now) override {
    EXPECT_EQ(now, clock.now());
    clock.sleep_until(now + 1_us);  // a turn takes time too
    ++turns;
    return Instant::max();
  }
};

TEST(HttpServer, a_burst_of_slow_requests_leaves_turns_for_what_is_due) {
  TurnsService service;
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  const Address address = *local_address(*listener);
  auto server = HttpServer::open(std::move(*listener), {}, service, service.clock);
  ASSERT_TRUE(server);
  service.server = server->get();
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 8; ++i) {  // all are ready before the loop begins
    clients.push_back(std::make_unique<Client>(address));
    clients.back()->send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  }
  std::thread thread([&] { (*server)->run(); });
  for (auto& client : clients) {
    EXPECT_THAT(client->read_to("\r\n\r\n"), testing::HasSubstr("200 OK"));
  }
  (*server)->stop();
  thread.join();
  ASSERT_EQ(service.turns_before.size(), 8U);
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_GT(service.turns_before[i], service.turns_before[i - 1]) << "before request " << i;
  }
}

// Has a descriptor of its own, and ends the server when it is ready.
class WatchingService final : public HttpService {
 public:
  HttpServer* server = nullptr;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ready{};

  void on_request(ConnectionId, const RequestHead&, std::string_view) override {}
  void on_gone(ConnectionId) override {}
  void on_progress(ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }
  void on_descriptor(std::uint32_t key, std::uint32_t events) override {
    ready.emplace_back(key, events);
    server->stop();
  }
};

TEST(HttpServer, a_descriptor_of_the_service_is_ready_under_its_key) {
  WatchingService service;
  const OsClock clock;
  auto listener = listen_on(*Address::numeric("127.0.0.1", 0), {});
  ASSERT_TRUE(listener);
  auto server = HttpServer::open(std::move(*listener), {}, service, clock);
  ASSERT_TRUE(server);
  service.server = server->get();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd mine(ends[0]);
  Fd other(ends[1]);
  ASSERT_TRUE((*server)->watch(mine, 7));
  other.reset();  // the end of the input is an event
  (*server)->run();
  ASSERT_EQ(service.ready.size(), 1U);
  EXPECT_EQ(service.ready[0].first, 7U);
  EXPECT_NE(service.ready[0].second, 0U);
  EXPECT_FALSE((*server)->alive(0));
}

TEST_F(HttpServerTest, answers_and_keeps_the_connection) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  client.send("POST /now HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi");
  EXPECT_EQ(
      client.read_to("hi"),
      "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nPOST /now hi");
  client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_to("/later "), testing::HasSubstr("200 OK"));
  client.send("GET /close HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string last = client.read_all();
  EXPECT_THAT(last, testing::HasSubstr("Connection: close"));
  EXPECT_THAT(last, testing::EndsWith("/close <end>"));
}

TEST_F(HttpServerTest, a_connection_of_another_protocol_passes_its_bytes_on) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  client.send("GET /raw HTTP/1.1\r\nHost: h\r\n\r\nGET /now");
  EXPECT_EQ(client.read_to("]"), "raw:[GET /now]");
  client.send("more");
  EXPECT_EQ(client.read_to("]"), "[more]");
  client.send("close");
  EXPECT_EQ(client.read_all(), "[close]<end>");
  Client reset(address());
  reset.send("GET /raw HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(reset.read_to(":"), "raw:");
  reset.send("reset");
  EXPECT_THAT(reset.read_all(), testing::EndsWith("<reset>"));
  Client gone(address());
  gone.send("GET /raw HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(gone.read_to(":"), "raw:");
  gone.shut();
  EXPECT_EQ(gone.read_all(), "<end>");
  stop();
  EXPECT_EQ(service_.gone, 1);  // only the one that left by itself
}

TEST_F(HttpServerTest, pipelined_requests_are_answered_in_order) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string body = format("{:03}", i);
    all += format("POST {} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n{}",
                  i % 3 == 0 ? "/later" : "/now", body);
  }
  client.send(all + "GET /close HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string replies = client.read_all();
  std::size_t at = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string wanted = format("POST {} {:03}", i % 3 == 0 ? "/later" : "/now", i);
    at = replies.find(wanted, at);
    ASSERT_NE(at, std::string::npos) << wanted;
  }
  EXPECT_THAT(replies, testing::EndsWith("GET /close <end>"));
}

TEST_F(HttpServerTest, a_request_may_come_byte_by_byte) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  const std::string_view request =
      "POST /now HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
      "chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
  for (const char c : request) client.send({&c, 1});
  EXPECT_THAT(client.read_to("abc"), testing::HasSubstr("POST /now abc"));
}

TEST_F(HttpServerTest, a_large_reply_waits_for_a_slow_reader) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  for (int i = 0; i < 8; ++i) client.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  client.send("GET /close HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::string all = client.read_all();
  EXPECT_GT(all.size(), 8u << 20);
  EXPECT_THAT(all, testing::EndsWith("GET /close <end>"));
  stop();
  EXPECT_EQ(service_.requests, 9);
}

TEST_F(HttpServerTest, a_half_closed_client_still_gets_what_was_answered_at_once) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  client.send("GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
  client.shut();
  EXPECT_THAT(client.read_all(), testing::EndsWith("bb<end>"));
}

TEST_F(HttpServerTest, bad_requests_are_told_why_and_the_reply_arrives) {
  start(*Address::numeric("127.0.0.1", 0),
        {.limits = {.head_bytes_max = 1000, .body_bytes_max = 10}});
  for (const auto& [request, status] : std::vector<std::pair<std::string, std::string>>{
           {"nonsense\r\n\r\n", "400 Bad Request"},
           {"GET /" + std::string(500'000, 'x'), "431 Request Header Fields Too Large"},
           {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99\r\n\r\n" + std::string(99, 'x'),
            "413 Content Too Large"},
           {"GET / HTTP/3.0\r\n\r\n", "505 HTTP Version Not Supported"}}) {
    Client client(address());
    client.send(request);
    const std::string reply = client.read_all();
    EXPECT_THAT(reply, testing::StartsWith("HTTP/1.1 " + status));
    EXPECT_THAT(reply, testing::EndsWith("<end>"));  // not a reset, though not all was read
  }
}

TEST_F(HttpServerTest, a_peer_that_goes_away_is_told_to_the_service) {
  std::atomic<bool> told = false;
  service_.on_gone_hook = [&told] {
    told = true;
    told.notify_all();
  };
  start(*Address::numeric("127.0.0.1", 0));
  {
    Client client(address());
    client.send("GET /never HTTP/1.1\r\nHost: h\r\n\r\n");
    Client other(address());  // by then the first request has been read
    other.send("GET /now HTTP/1.1\r\nHost: h\r\n\r\n");
    other.read_to("/now ");
    client.close();
  }
  told.wait(false);
  stop();
  EXPECT_EQ(service_.gone, 1);
}

TEST_F(HttpServerTest, reset_is_a_reset) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  client.send("GET /reset HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_EQ(client.read_all(), "<reset>");
}

TEST_F(HttpServerTest, says_100_continue) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  client.send("POST /now HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
  EXPECT_EQ(client.read_to("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("xyz");
  EXPECT_THAT(client.read_to("xyz"), testing::HasSubstr("200 OK"));
}

TEST_F(HttpServerTest, listens_on_ipv6_and_on_a_unix_socket) {
  const std::string path = format("{}/assay_{}_server.sock",
                                  std::filesystem::temp_directory_path().string(), ::getpid());
  start(*Address::unix_path(path));
  Client client(address());
  client.send("GET /now HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_to("/now "), testing::HasSubstr("200 OK"));
  stop();
  ::unlink(path.c_str());
  // A machine may have no IPv6; the address is still understood.
  const auto v6 = listen_on(*Address::numeric("::1", 0), {});
  if (v6) {
    EXPECT_THAT(local_address(*v6)->to_string(), testing::StartsWith("[::1]:"));
  } else {
    EXPECT_THAT(v6.error().message, testing::HasSubstr("[::1]:0"));
  }
}

TEST_F(HttpServerTest, many_connections_come_and_go) {
  start(*Address::numeric("127.0.0.1", 0));
  for (int round = 0; round < 5; ++round) {
    std::vector<Client> clients;
    for (int i = 0; i < 100; ++i) clients.emplace_back(address());
    for (Client& client : clients) client.send("GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
    for (Client& client : clients) {
      EXPECT_THAT(client.read_to("/later "), testing::HasSubstr("200 OK"));
    }
  }
  stop();
  EXPECT_EQ(service_.requests, 500);
}

// TLS with net/'s client part, over a plain socket of the test.
TEST_F(HttpServerTest, serves_tls) {
  std::string certificate;
  auto context = TlsContext::self_signed_server(&certificate, false);
  ASSERT_TRUE(context);
  start(*Address::numeric("127.0.0.1", 0), {.tls = &*context});
  auto client_context = TlsContext::client({.insecure = true});
  ASSERT_TRUE(client_context);
  TlsSession session(*client_context, "localhost");
  Client socket(address());
  bool done = false;
  while (!done) {
    done = session.handshake() == TlsSession::Step::done;
    socket.send(session.output());
    session.consume(session.output().size());
    if (!done) session.feed(socket.read([](const std::string& text) { return !text.empty(); }));
  }
  ASSERT_TRUE(
      session.write("GET /big HTTP/1.1\r\nHost: h\r\n\r\nGET /close HTTP/1.1\r\nHost: h\r\n\r\n"));
  socket.send(session.output());
  std::string text;
  std::vector<char> buffer(100'000);
  while (!text.ends_with("GET /close ")) {
    const std::ptrdiff_t n = session.read(buffer.data(), buffer.size());
    ASSERT_GE(n, 0) << session.error();
    if (n > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
      continue;
    }
    const std::string more = socket.read([](const std::string& t) { return !t.empty(); });
    ASSERT_THAT(more, testing::Not(testing::EndsWith("<end>")));
    session.feed(more);
  }
  EXPECT_THAT(text, testing::HasSubstr("bbbb"));
}

// One connection of HTTP/2 and the replies on it.
class Http2Peer final : public Http2Events {
 public:
  struct Reply {
    int status = 0;
    std::string body{};
    bool ended = false;
    std::uint32_t code = 0;
  };

  explicit Http2Peer(const Address& address) : line_(address) {}
  void ask(std::string_view path, Reply& reply, std::string_view method = "POST") {
    const std::array<Http2Client::Header, 4> fields{
        {{":method", method}, {":scheme", "http"}, {":authority", "h"}, {":path", path}}};
    ids_[&reply] = client_.submit(fields, "body", &reply);
    push();
  }
  void give_up(Reply& reply) {
    client_.cancel(ids_[&reply]);
    push();
  }
  // Reads until `done`; false where the connection ends before.
  bool read(const std::function<bool()>& done) {
    while (!done()) {
      const std::string bytes = line_.read([](const std::string& text) { return !text.empty(); });
      if (bytes.empty() || bytes == "<end>" || bytes == "<reset>") return false;
      if (!client_.feed(bytes)) return false;
      push();
    }
    return true;
  }

 private:
  void push() {
    for (std::string_view more = client_.output(); !more.empty(); more = client_.output()) {
      line_.send(more);
    }
  }
  void on_head(void* user, const ResponseHead& head) override { of(user).status = head.status; }
  void on_body(void* user, std::string_view piece, std::size_t) override { of(user).body += piece; }
  void on_request_out(void*) override {}
  void on_end(void* user, const Http2End& end) override {
    of(user).ended = true;
    of(user).code = end.code;
  }
  static Reply& of(void* user) { return *static_cast<Reply*>(user); }

  Client line_;
  Http2Client client_{*this};
  std::map<Reply*, std::int32_t> ids_{};
};

TEST_F(HttpServerTest, streams_of_http2_are_answered_each_as_it_comes_to_its_end) {
  start(*Address::numeric("127.0.0.1", 0), {.http2 = true});
  Http2Peer peer(address());
  Http2Peer::Reply never;
  Http2Peer::Reply now;
  Http2Peer::Reply later;
  Http2Peer::Reply big;
  Http2Peer::Reply head;
  Http2Peer::Reply closes;
  peer.ask("/never", never);
  peer.ask("/big", big);
  peer.ask("/later", later);
  peer.ask("/now", now);
  peer.ask("/now", head, "HEAD");
  peer.ask("/close", closes);
  ASSERT_TRUE(peer.read(
      [&] { return big.ended && later.ended && now.ended && head.ended && closes.ended; }));
  EXPECT_EQ(now.body, "POST /now body");
  EXPECT_EQ(later.body, "POST /later body");
  EXPECT_EQ(big.body, std::string(1 << 20, 'b'));
  EXPECT_EQ(head.body, "");
  EXPECT_EQ(closes.body, "POST /close body");
  for (const Http2Peer::Reply* reply : {&big, &later, &now, &head, &closes}) {
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->code, 0u);
  }
  EXPECT_FALSE(never.ended);
  Http2Peer::Reply again;
  peer.ask("/now", again);
  EXPECT_TRUE(peer.read([&] { return again.ended; })) << "the connection is kept";
  stop();
  EXPECT_EQ(service_.requests, 7);
  EXPECT_EQ(service_.gone, 0);
}

TEST_F(HttpServerTest, a_stream_that_is_reset_or_given_up_ends_alone) {
  start(*Address::numeric("127.0.0.1", 0), {.http2 = true});
  Http2Peer peer(address());
  Http2Peer::Reply reset;
  Http2Peer::Reply never;
  Http2Peer::Reply now;
  peer.ask("/never", never);
  peer.ask("/reset", reset);
  ASSERT_TRUE(peer.read([&] { return reset.ended; }));
  EXPECT_NE(reset.code, 0u);
  peer.give_up(never);
  peer.ask("/now", now);
  ASSERT_TRUE(peer.read([&] { return now.ended; }));
  EXPECT_EQ(now.code, 0u);
  stop();
  EXPECT_EQ(service_.gone, 1) << "the stream that was given up";
}

TEST_F(HttpServerTest, streams_go_with_their_connection) {
  start(*Address::numeric("127.0.0.1", 0), {.http2 = true});
  std::atomic<int> gone{0};
  service_.on_gone_hook = [&] { ++gone; };
  Http2Peer::Reply first;
  Http2Peer::Reply second;
  Http2Peer::Reply now;
  {
    Http2Peer peer(address());
    peer.ask("/never", first);
    peer.ask("/never", second);
    peer.ask("/now", now);
    ASSERT_TRUE(peer.read([&] { return now.ended; }));
  }
  // A later connection's reply follows the end of the first one in the loop, or the one after it.
  for (int i = 0; i < 1000 && gone < 2; ++i) {
    Client client(address());
    client.send("GET /now HTTP/1.1\r\nHost: h\r\n\r\n");
    EXPECT_THAT(client.read_to("GET /now "), testing::HasSubstr("200 OK"));
  }
  EXPECT_EQ(gone, 2);
}

TEST_F(HttpServerTest, http2_is_taken_only_where_the_options_allow_it) {
  start(*Address::numeric("127.0.0.1", 0));
  Client client(address());
  client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  EXPECT_THAT(client.read_all(), testing::StartsWith("HTTP/1.1 505"));
  stop();
  EXPECT_EQ(service_.requests, 0);
}

TEST_F(HttpServerTest, a_first_line_that_only_begins_like_http2_is_http1) {
  start(*Address::numeric("127.0.0.1", 0), {.http2 = true});
  Client client(address());
  client.send("P");
  client.send("UT /now HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.read_to("PUT /now "), testing::HasSubstr("200 OK"));
}

}  // namespace
}  // namespace assay::net
