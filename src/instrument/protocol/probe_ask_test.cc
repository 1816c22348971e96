// The probe's own connection against a real server on loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "base/format.h"
#include "net/http_reply.h"
#include "net/http_server.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;
using testing::Not;

// A little endpoint that answers at once, on a thread of its own.
class LittleEndpoint final : net::HttpService {
 public:
  struct Manners {
    bool keep_alive = true;
    bool refuse_stream_options = false;
    bool silent = false;
    std::string key{};
  };

  LittleEndpoint(net::Fd listener, Manners manners, const net::TlsContext* tls = nullptr)
      : manners_(std::move(manners)) {
    net::HttpServerOptions options;
    options.tls = tls;
    server_ = std::move(*net::HttpServer::open(std::move(listener), options, *this, clock_));
    thread_ = std::thread([this] { server_->run(); });
  }
  ~LittleEndpoint() override {
    server_->stop();
    thread_.join();
  }

 private:
  void on_request(net::ConnectionId connection, const net::RequestHead& head,
                  std::string_view body) override {
    if (manners_.silent) return;
    const std::string_view auth = head.find("authorization");
    if (!manners_.key.empty() && auth != "Bearer " + manners_.key) {
      reply(connection, 401, "application/json", R"({"error":{"message":"no key"}})");
    } else if (head.path() == "/v1/models") {
      reply(connection, 200, "application/json", R"({"data":[{"id":"tiny"},{"id":"other"}]})");
    } else if (head.path() != "/v1/chat/completions") {
      reply(connection, 404, "application/json", R"({"detail":"Not Found"})");
    } else if (manners_.refuse_stream_options && body.find("stream_options") != body.npos) {
      reply(connection, 400, "application/json", R"({"error":"unknown key stream_options"})");
    } else if (body.find(R"("stream":true)") != body.npos) {
      stream(connection, body.find("stream_options") != body.npos);
    } else {
      reply(connection, 200, "application/json",
            R"({"choices":[{"message":{"content":"One two"},"finish_reason":"stop"}],)"
            R"("usage":{"prompt_tokens":9,"completion_tokens":2}})");
    }
  }

  void stream(net::ConnectionId connection, bool usage) {
    std::string data;
    for (const char* word : {"One", " two"}) {
      data += format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}}}}]}}\n\n", word);
    }
    data += "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    if (usage) {
      data += "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n";
    }
    std::string out;
    net::append_head(out, {.status = 200,
                           .content_type = "text/event-stream",
                           .framing = net::BodyFraming::chunked,
                           .keep_alive = manners_.keep_alive});
    data += "data: [DONE]\n\n";
    out += format("{:x}\r\n{}\r\n0\r\n\r\n", data.size(), data);
    server_->send(connection, out);
    server_->finish(connection, manners_.keep_alive);
  }

  void reply(net::ConnectionId connection, int status, std::string_view type,
             std::string_view body) {
    std::string out;
    net::append_head(out, {.status = status,
                           .content_type = type,
                           .length = body.size(),
                           .keep_alive = manners_.keep_alive});
    out += body;
    server_->send(connection, out);
    server_->finish(connection, manners_.keep_alive);
  }

  void on_gone(net::ConnectionId) override {}
  void on_progress(net::ConnectionId, std::uint64_t) override {}
  Instant on_turn(Instant) override { return Instant::max(); }

  OsClock clock_{};
  Manners manners_;
  std::unique_ptr<net::HttpServer> server_{};
  std::thread thread_{};
};

struct Local {
  net::Fd listener{};
  std::string authority{};
};
Local loopback() {
  Local out;
  out.listener = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
  out.authority = net::local_address(out.listener)->to_string();
  return out;
}

ProbeQuestion question(const std::string& url) {
  ProbeQuestion out;
  out.url = url;
  out.timeout = 10_s;
  return out;
}

ProbeReport probe(const ProbeQuestion& asked) {
  const OsClock clock;
  const auto answers = ask_endpoint(asked, clock);
  EXPECT_TRUE(answers) << (answers ? "" : answers.error().message);
  return answers ? find(asked, *answers) : ProbeReport{};
}

// A server inside the probe's clock: it checks for requests and answers at each reading of the
// time. So it can answer before the probe's next step, like a server on another core.
class ServerInTheClock final : public Clock {
 public:
  // `piece`: at most this many bytes of a reply at each reading.
  explicit ServerInTheClock(net::Fd listener, std::size_t piece = 4096)
      : listener_(std::move(listener)), piece_(piece) {}

  Instant now() const override {
    now_ = now_ + 1_us;
    serve();
    return now_;
  }
  void sleep_until(Instant) override {}
  Duration spin_window() const override { return {}; }
  Instant last_request() const { return last_request_; }

 private:
  void serve() const {
    if (!peer_.open()) peer_ = net::Fd(::accept(listener_.get(), nullptr, nullptr));
    if (!peer_.open()) return;
    char buffer[4096];
    const ssize_t n = ::recv(peer_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) {
      last_request_ = now_;
      to_send_ = "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}";
    }
    const std::string_view piece = to_send_.substr(0, piece_);
    if (!piece.empty()) ::send(peer_.get(), piece.data(), piece.size(), MSG_NOSIGNAL);
    to_send_.remove_prefix(piece.size());
  }
  net::Fd listener_;
  std::size_t piece_;
  mutable std::string_view to_send_{};
  mutable net::Fd peer_{};
  mutable Instant now_{};
  mutable Instant last_request_{};
};

TEST(AskEndpoint, a_query_counts_from_before_its_bytes_go) {
  Local local = loopback();
  const ServerInTheClock clock(std::move(local.listener));
  const auto answers = ask_endpoint(question("http://" + local.authority), clock);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_LT(answers->plain.sent, clock.last_request());
}

TEST(AskEndpoint, a_reply_may_come_byte_by_byte) {
  Local local = loopback();
  const ServerInTheClock clock(std::move(local.listener), 1);
  const auto answers = ask_endpoint(question("http://" + local.authority), clock);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(read_recording(answers->plain).head.status, 404);
  EXPECT_EQ(read_recording(answers->plain).body, "{}");
  EXPECT_EQ(answers->plain.ending, Recording::Ending::open);
}

TEST(AskEndpoint, asks_models_a_stream_and_a_whole_reply_over_one_connection) {
  Local local = loopback();
  const LittleEndpoint endpoint(std::move(local.listener), {});
  const ProbeReport report = probe(question("http://" + local.authority + "/v1"));
  EXPECT_TRUE(report.answers);
  EXPECT_EQ(report.model, "tiny");
  EXPECT_EQ(report.models.size(), 2U);
  EXPECT_EQ(report.streamed.text, "One two");
  EXPECT_EQ(report.plain.text, "One two");
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("kept alive"));
  EXPECT_THAT(text, HasSubstr("counted by the server: prompt 9, completion 2"));
  EXPECT_THAT(text, Not(HasSubstr("  bad "))) << text;
}

TEST(AskEndpoint, a_server_that_closes_or_refuses_stream_options_is_asked_again) {
  Local local = loopback();
  const LittleEndpoint endpoint(std::move(local.listener),
                                {.keep_alive = false, .refuse_stream_options = true});
  const ProbeReport report = probe(question("http://" + local.authority));
  EXPECT_TRUE(report.answers);
  EXPECT_EQ(report.streamed.text, "One two");
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("closed after a reply"));
  EXPECT_THAT(text, HasSubstr("stream_options is refused (HTTP 400: unknown key stream_options)"));
}

TEST(AskEndpoint, speaks_tls_and_checks_the_certificate) {
  std::string certificate;
  const auto context = net::TlsContext::self_signed_server(&certificate, false);
  ASSERT_TRUE(context);
  Local local = loopback();
  const LittleEndpoint endpoint(std::move(local.listener), {}, &*context);
  ProbeQuestion asked = question("https://" + local.authority);
  const OsClock clock;
  const auto refused = ask_endpoint(asked, clock);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_THAT(refused.error().message, HasSubstr("certificate"));
  asked.insecure = true;
  const ProbeReport report = probe(asked);
  EXPECT_EQ(report.plain.text, "One two");
  EXPECT_THAT(to_text(report), HasSubstr("over TLSv1.3"));
  EXPECT_THAT(to_text(report), HasSubstr("kept alive"));
}

TEST(AskEndpoint, a_handshake_that_ends_or_never_does_is_an_error) {
  const OsClock clock;
  Local local = loopback();
  ProbeQuestion asked = question("https://" + local.authority);
  asked.timeout = 30_ms;
  const auto never = ask_endpoint(asked, clock);
  ASSERT_FALSE(never);
  EXPECT_EQ(never.error().code, Code::timed_out);
  EXPECT_THAT(never.error().message, HasSubstr("no end of the TLS handshake in time"));
  asked.timeout = 10_s;
  local = loopback();
  asked.url = "https://" + local.authority;
  std::thread closes([&] {
    pollfd entry{.fd = local.listener.get(), .events = POLLIN, .revents = 0};
    ::poll(&entry, 1, 10'000);
    const net::Fd peer = std::move(*net::accept_one(local.listener));
    entry.fd = peer.get();
    ::poll(&entry, 1, 10'000);
  });
  const auto closed = ask_endpoint(asked, clock);
  closes.join();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.error().code, Code::refused);
  EXPECT_THAT(closed.error().message, HasSubstr("the connection closed during TLS"));
}

TEST(AskEndpoint, speaks_over_a_unix_socket) {
  const std::string path =
      (std::filesystem::temp_directory_path() / format("assay_probe_{}.sock", ::getpid())).string();
  {
    auto listener = net::listen_on(*net::Address::unix_path(path), {});
    ASSERT_TRUE(listener);
    const LittleEndpoint endpoint(std::move(*listener), {});
    EXPECT_EQ(probe(question("http+unix://" + path + ":/v1")).plain.text, "One two");
  }
  std::filesystem::remove(path);
}

TEST(AskEndpoint, a_key_is_sent_and_its_lack_is_named) {
  Local local = loopback();
  const LittleEndpoint endpoint(std::move(local.listener), {.key = "k"});
  ProbeQuestion asked = question("http://" + local.authority);
  asked.model = "tiny";
  ProbeReport report = probe(asked);
  EXPECT_FALSE(report.answers);
  EXPECT_THAT(to_text(report), HasSubstr("HTTP 401: no key; give a key by --api-key-env NAME"));
  asked.api_key = "k";
  report = probe(asked);
  EXPECT_TRUE(report.answers);
}

TEST(AskEndpoint, nobody_there_or_nobody_answering_is_an_error_or_said) {
  Local local = loopback();
  const OsClock clock;
  {
    const LittleEndpoint silent(std::move(local.listener), {.silent = true});
    ProbeQuestion asked = question("http://" + local.authority);
    asked.timeout = 30_ms;
    const ProbeReport report = probe(asked);
    EXPECT_FALSE(report.answers);
    EXPECT_THAT(to_text(report), HasSubstr("no reply in 30.0 ms"));
  }
  const auto answers = ask_endpoint(question("http://" + local.authority), clock);
  ASSERT_FALSE(answers);
  EXPECT_EQ(answers.error().code, Code::refused);
  EXPECT_THAT(answers.error().message, HasSubstr("is the server running"));
  EXPECT_EQ(ask_endpoint(question("localhost:1"), clock).error().code, Code::invalid);
}

}  // namespace
}  // namespace assay::protocol
