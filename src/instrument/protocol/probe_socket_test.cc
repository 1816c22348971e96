// A turn that a probe asks over a WebSocket: what it sends, and the stream that it tells.
#include "protocol/probe_socket.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::protocol {
namespace {

using net::FrameType;

bool is_aside(std::string_view event) { return event.starts_with("aside"); }
bool is_last(std::string_view event) { return event == "last"; }

constexpr std::string_view kToldHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string told_event(std::string_view event) {
  const std::string data = format("data: {}\n\n", event);
  return format("{:x}\r\n{}\r\n", data.size(), data);
}
const std::string kToldEnd = "0\r\n\r\n";

// The other end.
struct PlayedSocket final : net::WebSocketEvents {
  explicit PlayedSocket(std::string script) : turn(std::move(script), is_aside, is_last) {
    const std::string opening = turn.opening("HEAD");
    EXPECT_TRUE(opening.starts_with("HEADUpgrade: websocket\r\n")) << opening;
    const std::size_t at = opening.find("Sec-WebSocket-Key: ") + 19;
    accepted = format(
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Accept: {}\r\n\r\n",
        net::websocket_accept(opening.substr(at, opening.find('\r', at) - at)));
  }
  // Gives the turn a read; returns what it tells. What it sends is kept in `heard`.
  std::string says(std::string bytes) {
    std::string answer;
    turn.take(bytes, answer);
    answer.append(net::kWebSocketPadding, '\0');
    EXPECT_TRUE(reader.feed(
        std::string_view(answer).substr(0, answer.size() - net::kWebSocketPadding), *this));
    return bytes;
  }
  std::string text(std::string_view words) {
    std::string out;
    writer.text(out, words);
    return out;
  }
  std::string frame(FrameType type, std::string_view words) {
    std::string out;
    writer.frame(out, type, words);
    return out;
  }
  void on_message(bool is_text, std::string_view data, std::size_t) override {
    heard += format("{}{} ", is_text ? "" : "binary ", data);
  }
  void on_ping(std::string_view) override {}
  void on_pong(std::string_view payload) override { heard += format("pong {} ", payload); }
  void on_close(std::uint16_t, std::string_view) override {}

  ProbeTurn turn;
  net::WebSocketReader reader{net::WebSocketSide::server};
  net::WebSocketWriter writer{net::WebSocketSide::server};
  std::string accepted{};
  std::string heard{};
};

TEST(ProbeTurn, sends_its_script_once_open_and_tells_what_is_of_the_turn) {
  PlayedSocket peer("first\nsecond\n");
  EXPECT_FALSE(peer.turn.open());
  EXPECT_EQ(peer.says(peer.accepted.substr(0, 20)), "");
  EXPECT_FALSE(peer.turn.open());
  EXPECT_EQ(peer.says(peer.accepted.substr(20) + peer.text("aside 1") + peer.text("word")),
            std::string(kToldHead) + told_event("word"));
  EXPECT_TRUE(peer.turn.open());
  EXPECT_EQ(peer.heard, "first second ");
  EXPECT_EQ(peer.says(peer.frame(FrameType::ping, "p")), "");
  EXPECT_EQ(peer.heard, "first second pong p ");
  EXPECT_EQ(peer.says(peer.text("more")), told_event("more")) << "the head is told once";
  EXPECT_EQ(peer.says(peer.text("last") + peer.text("late")), told_event("last") + kToldEnd);
  EXPECT_EQ(peer.says(peer.text("later") + peer.frame(FrameType::close, "")), "")
      << "the end is told once";
}

TEST(ProbeTurn, without_a_script_it_only_opens) {
  PlayedSocket peer("");
  EXPECT_EQ(peer.says(peer.accepted), std::string(kToldHead) + kToldEnd);
  EXPECT_TRUE(peer.turn.open());
  EXPECT_EQ(peer.heard, "");
}

TEST(ProbeTurn, a_refusal_is_told_as_it_came) {
  PlayedSocket peer("first\n");
  const std::string refusal = "HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\n{}";
  EXPECT_EQ(peer.says(refusal.substr(0, 9)), "");
  EXPECT_EQ(peer.says(refusal.substr(9)), refusal);
  EXPECT_FALSE(peer.turn.open());
  EXPECT_EQ(peer.heard, "");
}

TEST(ProbeTurn, a_handshake_or_a_frame_that_is_wrong_is_an_error_of_the_stream) {
  PlayedSocket wrong("first\n");
  EXPECT_EQ(
      wrong.says("HTTP/1.1 101 X\r\n\r\n"),
      std::string(kToldHead) +
          told_event(R"({"type":"error","error":"the 101 does not say 'Upgrade: websocket'"})") +
          kToldEnd);
  EXPECT_EQ(wrong.heard, "") << "nothing is sent to what is not a WebSocket";
  PlayedSocket broken("first\n");
  EXPECT_EQ(
      broken.says(broken.accepted + "\xFF\x01x"),
      std::string(kToldHead) +
          told_event(R"({"type":"error","error":"a frame has a reserved bit, of an extension )"
                     R"(not agreed on"})") +
          kToldEnd);
  PlayedSocket binary("first\n");
  binary.says(binary.accepted);
  EXPECT_EQ(binary.says(binary.frame(FrameType::binary, "x")),
            told_event(R"({"type":"error","error":"a binary message came; events are text"})"));
  EXPECT_EQ(binary.says(binary.frame(FrameType::close, "")), kToldEnd);
}

}  // namespace
}  // namespace assay::protocol
