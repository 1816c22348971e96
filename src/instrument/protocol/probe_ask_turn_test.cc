// What a probe asks over a WebSocket, and what it does where it cannot send: by a server that runs
// in the probe's own clock, so that no test depends on which of the two is quicker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/format.h"
#include "net/socket.h"
#include "net/websocket.h"
#include "net/websocket_handshake.h"
#include "protocol/endpoint_capture.h"
#include "protocol/probe.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// At each turn it takes what has come, and answers.
class TurnServer final : private net::WebSocketEvents {
 public:
  std::string url() const {
    return format("http://{}", net::local_address(listener_)->to_string());
  }
  void serve(Instant now) {
    now_ = now;
    auto next = net::accept_one(listener_);
    if (next && next->open()) take(*std::move(next));
    if (peer_.open()) read();
  }

  // The first line of each request, and the events of the turn.
  std::vector<std::string> heard{};
  bool refuses = false;  // to open a WebSocket
  Instant refused{};
  Instant opened{};       // the WebSocket
  Instant first_event{};  // of the turn

 private:
  void read() {
    char buffer[8192];
    const ssize_t n = ::recv(peer_.get(), buffer, sizeof buffer, MSG_DONTWAIT);
    if (n > 0) held_.append(buffer, static_cast<std::size_t>(n));
    if (reading_frames_) return frames();
    const std::size_t end = held_.find("\r\n\r\n");
    if (end == std::string::npos) return;
    const std::string head = held_.substr(0, end + 4);
    held_.erase(0, end + 4);
    heard.push_back(head.substr(0, head.find(" HTTP")));
    constexpr std::string_view kKey = "Sec-WebSocket-Key: ";
    const std::size_t key = head.find(kKey);
    if (key == std::string::npos || refuses) {
      refused = now_;
      return say("HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n{}");
    }
    const std::size_t at = key + kKey.size();
    say(
        format("HTTP/1.1 101 Yes\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
               "Sec-WebSocket-Accept: {}\r\n\r\n",
               net::websocket_accept(head.substr(at, head.find('\r', at) - at))));
    reading_frames_ = true;
    opened = now_;
  }
  void take(net::Fd next) {
    peer_ = std::move(next);
    reading_frames_ = false;
    held_.clear();
  }
  void frames() {
    if (held_.empty()) return;
    const std::size_t size = held_.size();
    held_.append(net::kWebSocketPadding, '\0');
    EXPECT_TRUE(reader_.feed(std::string_view(held_).substr(0, size), *this));
    held_.clear();
  }
  void on_message(bool, std::string_view data, std::size_t) override {
    const std::size_t type = data.find("\"type\":\"") + 8;
    heard.emplace_back(data.substr(type, data.find('"', type) - type));
    if (heard.back() != "response.create") return;
    first_event = now_;
    std::string out;
    writer_.frame(out, net::FrameType::ping, "here?");  // its answer is not of the turn
    writer_.text(out, R"({"type":"response.output_text.delta","delta":"One"})");
    writer_.text(out, R"({"type":"response.done","response":{"status":"completed",)"
                      R"("usage":{"input_tokens":9,"output_tokens":1}}})");
    say(out);
  }
  void on_ping(std::string_view) override {}
  void on_pong(std::string_view) override {}
  void on_close(std::uint16_t, std::string_view) override {}
  void say(std::string_view bytes) {
    EXPECT_EQ(::send(peer_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  net::Fd listener_ = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
  net::Fd peer_{};
  std::string held_{};
  bool reading_frames_ = false;
  net::WebSocketReader reader_{net::WebSocketSide::server};
  net::WebSocketWriter writer_{net::WebSocketSide::server};
  Instant now_{};
};

class ServingClock final : public Clock {
 public:
  explicit ServingClock(TurnServer& server) : server_(server) {}
  Instant now() const override {
    now_ = now_ + 1_us;
    server_.serve(now_);
    return now_;
  }
  void sleep_until(Instant) override {}
  Duration spin_window() const override { return {}; }

 private:
  TurnServer& server_;
  mutable Instant now_{};
};

ProbeQuestion turn_question(const std::string& url) {
  ProbeQuestion out{.url = url, .api = Api::realtime, .model = "m"};
  out.timeout = 10_s;
  return out;
}

TEST(AskTurn, is_one_turn_that_counts_from_when_the_session_is_open) {
  TurnServer server;
  const ServingClock clock(server);
  const ProbeQuestion asked = turn_question(server.url());
  const auto answers = ask_endpoint(asked, clock);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_THAT(server.heard,
              ElementsAre("GET /v1/models", "GET /v1/realtime?model=m", "session.update",
                          "conversation.item.create", "response.create"));
  EXPECT_GT(answers->streamed.sent, server.opened) << "the handshake is not the turn";
  EXPECT_LT(answers->streamed.sent, server.first_event) << "the reply came behind it";
  EXPECT_EQ(answers->sound_rate, 48'000U);
  EXPECT_FALSE(answers->plain_asked) << "a session has no whole reply";
  const ProbeReport report = find(asked, *answers);
  EXPECT_TRUE(report.answers);
  EXPECT_EQ(report.streamed.text, "One");
  EXPECT_EQ(report.streamed.usage.completion_tokens, 1);
  EXPECT_TRUE(report.streamed.done_marker.known());
}

TEST(AskTurn, counts_from_its_handshake_where_that_is_refused) {
  TurnServer server;
  server.refuses = true;
  const ServingClock clock(server);
  const auto answers = ask_endpoint(turn_question(server.url()), clock);
  ASSERT_TRUE(answers) << answers.error().message;
  ASSERT_EQ(answers->streamed.reads.size(), 1U);
  EXPECT_LT(answers->streamed.sent, server.refused);
  EXPECT_GT(answers->streamed.reads[0].at, server.refused);
}

// How many connections wait to be accepted.
std::size_t waiting(const net::Fd& listener) {
  for (std::size_t out = 0;; ++out) {
    const auto peer = net::accept_one(listener);
    if (!peer || !peer->open()) return out;
  }
}

TEST(AskTurn, a_connection_without_its_handshake_is_not_asked_later) {
  const net::Fd listener = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
  ProbeQuestion asked;
  asked.url = format("https://{}", net::local_address(listener)->to_string());
  asked.timeout = 20_ms;
  const OsClock clock;
  auto reader = PageReader::open(asked, clock);
  ASSERT_TRUE(reader);
  for (int i = 0; i < 2; ++i) {
    const auto page = reader->read();
    ASSERT_FALSE(page);
    EXPECT_EQ(page.error().code, Code::timed_out);
    EXPECT_THAT(page.error().message, HasSubstr("no end of the TLS handshake in time"));
  }
  EXPECT_EQ(waiting(listener), 2U);
}

// What the socket's buffers hold is sent; the rest waits for a peer that never reads.
TEST(AskTurn, a_query_that_cannot_be_sent_whole_leaves_its_connection) {
  const net::Fd listener = std::move(*net::listen_on(*net::Address::numeric("127.0.0.1", 0), {}));
  net::set_buffers(listener, 4096, 0);
  ProbeQuestion asked;
  asked.url = format("http://{}", net::local_address(listener)->to_string());
  asked.model = "m";
  asked.prompt.assign(std::size_t{8} << 20, 'x');
  asked.timeout = 20_ms;
  const OsClock clock;
  const auto answers = ask_endpoint(asked, clock);
  ASSERT_TRUE(answers) << answers.error().message;
  EXPECT_EQ(answers->streamed.ending, Recording::Ending::reset);
  EXPECT_TRUE(answers->streamed.reads.empty());
  EXPECT_GE(answers->streamed.ended, answers->streamed.sent + asked.timeout);
  EXPECT_FALSE(answers->plain_on_same_connection);
  EXPECT_EQ(waiting(listener), 3U) << "one each for the models, the stream and the whole reply";
}

}  // namespace
}  // namespace assay::protocol
