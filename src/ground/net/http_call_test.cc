#include "net/http_call.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "base/testing_temp_folder.h"
#include "net/http_reply.h"
#include "net/http_server.h"

namespace assay::net {
namespace {

// Returns the request's body, and its path in a header's place: "PATH BODY".
class CallEcho final : public HttpService {
 public:
  void on_request(ConnectionId connection, const RequestHead& head,
                  std::string_view body) override {
    const std::string text = std::string(head.target) + " " + std::string(body);
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
  explicit CallServer(const TlsContext* tls = nullptr) {
    Fd listener = std::move(*listen_on(*Address::numeric("127.0.0.1", 0), {}));
    port_ = local_address(listener)->port();
    server_ = std::move(*HttpServer::open(std::move(listener), {.tls = tls}, echo_, clock_));
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
  const std::string large(300'000, 'x');
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
  EXPECT_NE(http_call({.url = *parse_url(url)}, kCallClock).error().message.find("127.0.0.1"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::net
