#include "net/websocket.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/rng.h"
#include "net/testing_websocket.h"
#include "net/websocket_handshake.h"

namespace assay::net {
namespace {

using ::testing::HasSubstr;

std::string by_client(std::string_view payload, FrameType type = FrameType::text,
                      bool final = true) {
  std::string out;
  WebSocketWriter(WebSocketSide::client).frame(out, type, payload, final);
  return out;
}
std::string by_server(std::string_view payload, FrameType type = FrameType::text,
                      bool final = true) {
  std::string out;
  WebSocketWriter(WebSocketSide::server).frame(out, type, payload, final);
  return out;
}
std::string heard(std::string_view bytes, WebSocketSide side = WebSocketSide::client) {
  return read_in_steps(side, bytes, bytes.size(), kWebSocketMessageMax);
}

// The examples of RFC 6455, 5.7.
TEST(WebSocket, TheStandardsExamples) {
  EXPECT_EQ(heard("\x81\x05Hello"), "text Hello\n");
  EXPECT_EQ(heard("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", WebSocketSide::server),
            "text Hello\n");
  EXPECT_EQ(heard("\x01\x03Hel\x80\x02lo"), "text Hello\n");
  EXPECT_EQ(heard("\x89\x05Hello"), "ping Hello\n");
  EXPECT_EQ(heard("\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", WebSocketSide::server),
            "pong Hello\n");
  EXPECT_EQ(by_server("Hello"), "\x81\x05Hello");
  EXPECT_EQ(by_server(std::string(256, 'x'), FrameType::binary).substr(0, 4),
            std::string("\x82\x7E\x01\x00", 4));
  EXPECT_EQ(by_server(std::string(65'536, 'x'), FrameType::binary).substr(0, 10),
            std::string("\x82\x7F\0\0\0\0\0\x01\0\0", 10));
}

TEST(WebSocket, LengthsAtTheirLimits) {
  for (const std::size_t size : {0u, 1u, 125u, 126u, 127u, 65'535u, 65'536u, 100'000u}) {
    const std::string payload(size, 'a');
    EXPECT_EQ(heard(by_server(payload)), "text " + payload + "\n") << size;
    EXPECT_EQ(heard(by_client(payload), WebSocketSide::server), "text " + payload + "\n") << size;
  }
}

TEST(WebSocket, ControlFramesComeBetweenFragments) {
  const std::string bytes =
      by_server("one ", FrameType::text, false) + by_server("p", FrameType::ping) +
      by_server("two ", FrameType::more, false) + by_server("", FrameType::pong) +
      by_server("three", FrameType::more) + by_server("next");
  EXPECT_EQ(heard(bytes), "ping p\npong \ntext one two three\ntext next\n");
}

struct Fault {
  std::string bytes{};
  std::uint16_t code = 0;
  std::string_view why{};
};

TEST(WebSocket, FaultsAreNamed) {
  const std::string half = by_server("a", FrameType::text, false);
  const std::vector<Fault> faults = {
      {"\xc1\x01x", 1002, "reserved bit"},
      {"\x83\x01x", 1002, "unknown opcode 3"},
      {"\x8b\x01x", 1002, "unknown opcode 11"},
      {by_client("x"), 1002, "of the server is masked"},
      {std::string("\x81\x7e\x00\x7d", 4), 1002, "shortest form"},
      {std::string("\x81\x7f\0\0\0\0\0\0\xff\xff", 10), 1002, "shortest form"},
      {std::string("\x81\x7f\x80\0\0\0\0\0\0\0", 10), 1002, "shortest form"},
      {std::string("\x09\x00", 2), 1002, "control frame is in fragments"},
      {std::string("\x89\x7e\x00\x7e", 4), 1002, "longer than 125"},
      {by_server("x", FrameType::more), 1002, "continues no message"},
      {half + by_server("b"), 1002, "before the one in fragments ended"},
      {by_server("\xc3("), 1007, "not UTF-8"},
      {by_server("x", FrameType::close), 1002, "half a code"},
      {by_server("\x03\xee", FrameType::close), 1002, "the code 1006"},
      {by_server("\x03\xe8\xff", FrameType::close), 1007, "reason"},
      {std::string("\x81\x7f\0\0\0\0\x10\0\0\0", 10), 1009, "longer than"},
  };
  for (const Fault& fault : faults) {
    WebSocketReader reader(WebSocketSide::client);
    Story story;
    EXPECT_FALSE(reader.feed(fault.bytes, story)) << fault.why;
    EXPECT_EQ(reader.close_code(), fault.code) << fault.why;
    EXPECT_THAT(std::string(reader.error()), HasSubstr(std::string(fault.why)));
    EXPECT_EQ(story.text, "");
    EXPECT_FALSE(reader.feed("\x81\x01x", story)) << "a failed reader reads nothing more";
  }
  EXPECT_EQ(heard(by_server("x"), WebSocketSide::server), "failed 1002\n");
}

TEST(WebSocket, MessagesInFragmentsHaveTheSameLimit) {
  const std::string ten(10, 'a');
  const std::string bytes =
      by_server(ten, FrameType::text, false) + by_server(ten, FrameType::more);
  EXPECT_EQ(read_in_steps(WebSocketSide::client, bytes, 7, 20), "text " + ten + ten + "\n");
  EXPECT_EQ(read_in_steps(WebSocketSide::client, bytes, 7, 19), "failed 1009\n");
}

// Where a mask would stand, a frame without one has the bytes of longer frames before it.
TEST(WebSocket, AShortFragmentBehindALongOneIsReadAsItIs) {
  const std::string bytes = by_server(std::string(300, 'a'), FrameType::text, false) +
                            by_server("p", FrameType::ping) + by_server("tail", FrameType::more);
  for (const std::size_t step : {std::size_t{1}, std::size_t{100}, bytes.size()}) {
    EXPECT_EQ(read_in_steps(WebSocketSide::client, bytes, step, 1000),
              "ping p\ntext " + std::string(300, 'a') + "tail\n");
  }
}

TEST(WebSocket, AGatheredMessageKeepsToTheBudget) {
  MemoryBudget budget(100'000);
  WebSocketReader reader(WebSocketSide::client, &budget);
  Story story;
  const std::string frame = by_server(std::string(200'000, 'x'));
  EXPECT_FALSE(reader.feed(std::string_view(frame).substr(0, 150'000), story));
  EXPECT_TRUE(reader.no_room());
}

TEST(WebSocket, CharactersMayBeCutBetweenFragments) {
  const std::string bytes =
      by_server("a\xe2\x82", FrameType::text, false) + by_server("\xac", FrameType::more);
  EXPECT_EQ(heard(bytes), "text a\xe2\x82\xac\n");
}

TEST(WebSocket, NothingIsReadBehindAClose) {
  std::string bytes;
  WebSocketWriter(WebSocketSide::server).close(bytes, 1001, "bye");
  EXPECT_EQ(heard(bytes + by_server("late")), "close 1001 bye\n");
  bytes.clear();
  WebSocketWriter(WebSocketSide::server).close(bytes, kCloseNoCode);
  EXPECT_EQ(heard(bytes), "close 1005 \n");
  bytes.clear();
  // A long reason is cut between characters.
  std::string reason;
  for (int i = 0; i < 100; ++i) reason += "\xc3\xa9";
  WebSocketWriter(WebSocketSide::server).close(bytes, 1000, reason);
  EXPECT_EQ(bytes.size(), 2U + 2 + 122);
  EXPECT_THAT(heard(bytes), HasSubstr("close 1000 "));
  bytes.clear();
  WebSocketWriter(WebSocketSide::server).close(bytes, 1000, std::string(200, 'x'));
  EXPECT_EQ(heard(bytes), "close 1000 " + std::string(123, 'x') + "\n");
}

TEST(WebSocket, EachFrameHasItsOwnMask) {
  WebSocketWriter writer(WebSocketSide::client);
  std::set<std::string> masks;
  constexpr std::size_t kFrames = 200;  // more than are drawn at once
  for (std::size_t i = 0; i < kFrames; ++i) {
    std::string out;
    writer.text(out, "same", " text");
    ASSERT_EQ(out.size(), 2U + 4 + 9);
    EXPECT_EQ(read_in_steps(WebSocketSide::server, out, 3, 64), "text same text\n");
    masks.insert(out.substr(2, 4));
  }
  // Two of 200 masks of 32 bits are equal once in 200,000 runs; ten are never.
  EXPECT_GT(masks.size(), kFrames - 10);
}

// Random frames, some of them wrong, at all cuts.
TEST(WebSocket, EqualsTheSlowTwinAtAllCuts) {
  Rng rng(7);
  const std::vector<FrameType> types = {FrameType::text, FrameType::more,  FrameType::binary,
                                        FrameType::ping, FrameType::close, FrameType::pong};
  for (int round = 0; round < 300; ++round) {
    const WebSocketSide side = round % 2 == 0 ? WebSocketSide::client : WebSocketSide::server;
    WebSocketWriter writer(side == WebSocketSide::client ? WebSocketSide::server
                                                         : WebSocketSide::client);
    std::string bytes;
    for (int frame = 0; frame < 6; ++frame) {
      const bool again = frame > 0 && rng.below(3) > 0;
      const FrameType type = again ? FrameType::more : types[rng.below(types.size())];
      std::string payload(rng.below(4) == 0 ? 126 + rng.below(40) : rng.below(12), 'a');
      if (type >= FrameType::close) payload.resize(std::min<std::size_t>(payload.size(), 20));
      if (!payload.empty() && rng.below(12) == 0) payload.back() = '\xc3';
      if (type == FrameType::close && payload.size() > 1) {
        payload[0] = '\x03';
        payload[1] = static_cast<char>(0xe8 + rng.below(16));
      }
      writer.frame(bytes, type, payload, type >= FrameType::close || rng.below(2) == 0);
    }
    if (rng.below(4) == 0) bytes[rng.below(bytes.size())] ^= static_cast<char>(1 << rng.below(8));
    const std::string twin = read_by_twin(side, bytes, 300);
    for (std::size_t step = 1; step <= bytes.size(); step += 1 + step / 3) {
      ASSERT_EQ(read_in_steps(side, bytes, step, 300), twin) << round << " in steps of " << step;
    }
  }
}

// ---- the handshake ----

constexpr std::string_view kKey = "dGhlIHNhbXBsZSBub25jZQ==";  // of RFC 6455, 1.3
const std::string kGood =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

TEST(WebSocketHandshake, TheStandardsKey) {
  EXPECT_EQ(websocket_accept(kKey), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_NE(new_websocket_key(), new_websocket_key());
  EXPECT_EQ(new_websocket_key().size(), 24U);
}

TEST(WebSocketHandshake, OpensAtAllCutsAndLeavesTheFrames) {
  const std::string bytes = kGood + "\x81\x05Hello";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    ClientHandshake handshake(kKey);
    std::string_view first = std::string_view(bytes).substr(0, cut);
    std::string_view second = std::string_view(bytes).substr(cut);
    handshake.feed(first);
    EXPECT_EQ(handshake.feed(second), ClientHandshake::State::open) << cut;
    EXPECT_EQ(std::string(first) + std::string(second), "\x81\x05Hello") << cut;
  }
}

std::string refused(std::string bytes) {
  ClientHandshake handshake(kKey);
  std::string_view left = bytes;
  EXPECT_EQ(handshake.feed(left), ClientHandshake::State::refused) << bytes;
  EXPECT_TRUE(left.empty());
  return format("{} {}{}", handshake.status(), handshake.error(), handshake.body());
}

std::string with(std::string_view from, std::string_view to) {
  std::string out = kGood;
  return out.replace(out.find(from), from.size(), to);
}

TEST(WebSocketHandshake, RefusalsAreNamed) {
  EXPECT_EQ(refused("HTTP/1.1 401 Unauthorized\r\n\r\n{\"error\":1}"), "401 {\"error\":1}");
  EXPECT_THAT(refused("SSH-2.0-x\r\n\r\n"), HasSubstr("not HTTP"));
  EXPECT_THAT(refused(with("s3pP", "S3pP")), HasSubstr("does not fit our key"));
  EXPECT_THAT(refused(with("Sec-WebSocket-Accept", "X")), HasSubstr("no Sec-WebSocket-Accept"));
  EXPECT_THAT(refused(with("Upgrade: websocket", "Upgrade: h2c")), HasSubstr("Upgrade: websocket"));
  EXPECT_THAT(refused(with("Connection: Upgrade", "Connection: close")),
              HasSubstr("Connection: Upgrade"));
  EXPECT_THAT(refused(with("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n")),
              HasSubstr("not offered: permessage-deflate"));
  EXPECT_THAT(refused(with("\r\n\r\n", "\r\nSec-WebSocket-Protocol: x\r\n\r\n")),
              HasSubstr("subprotocol"));
  EXPECT_THAT(refused("HTTP/1.1 101 x\r\nX: " + std::string(70'000, 'x')), HasSubstr("64 KiB"));
}

TEST(WebSocketHandshake, InterimAnswersAreSkipped) {
  ClientHandshake handshake(kKey);
  const std::string bytes =
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
      "HTTP/1.1 199 X\r\n\r\n" +
      kGood;
  std::string_view left = bytes;
  EXPECT_EQ(handshake.feed(left), ClientHandshake::State::open) << handshake.error();
  ClientHandshake tight(kKey);
  std::string no_blanks = kGood;
  for (std::size_t at = 0; (at = no_blanks.find(": ", at)) != std::string::npos;) {
    no_blanks.erase(at + 1, 1);
  }
  left = no_blanks;
  EXPECT_EQ(tight.feed(left), ClientHandshake::State::open) << tight.error();
}

TEST(WebSocketHandshake, TheServersHalf) {
  const std::string request =
      "GET /v1/realtime HTTP/1.1\r\nHost: x\r\n" + websocket_request_headers(kKey);
  const auto answer = [](const std::string& bytes, std::string& out) {
    RequestHead head;
    std::size_t searched = 0;
    EXPECT_EQ(parse_request_head(bytes, 4096, searched, head).status, ReadStatus::ready);
    EXPECT_TRUE(wants_websocket(head));
    return answer_websocket(head, out);
  };
  const auto changed = [&](std::string_view from, std::string_view to) {
    std::string out = request;
    return out.replace(out.find(from), from.size(), to);
  };
  std::string out;
  EXPECT_EQ(answer(request, out), Upgrade::accepted);
  EXPECT_EQ(out, kGood);
  EXPECT_EQ(answer(changed("Connection: Upgrade", "Connection: keep-alive, upgrade"), out),
            Upgrade::accepted);
  EXPECT_EQ(answer(changed("Version: 13", "Version: 8"), out), Upgrade::bad_version);
  EXPECT_EQ(answer(changed(kKey, "c2hvcnQ="), out), Upgrade::bad_request);
  EXPECT_EQ(answer(changed("GET", "POST"), out), Upgrade::bad_request);
  EXPECT_EQ(answer(changed("HTTP/1.1", "HTTP/1.0"), out), Upgrade::bad_request);
  EXPECT_EQ(answer(changed("Connection: Upgrade", "Connection: close"), out), Upgrade::bad_request);
}

// What a message shares its feed with, and what a masked one has in common with its mask.
class BehindEach final : public WebSocketEvents {
 public:
  void on_message(bool text, std::string_view data, std::size_t behind) override {
    heard += format("{}{}:{} ", text ? "text" : "binary", data.size(), behind);
    bytes += data;
  }
  void on_ping(std::string_view) override {}
  void on_pong(std::string_view) override {}
  void on_close(std::uint16_t, std::string_view) override {}
  std::string heard{};
  std::string bytes{};
};

TEST(WebSocket, EachMessageKnowsWhatStandsBehindIt) {
  WebSocketReader reader(WebSocketSide::client);
  BehindEach seen;
  const std::string bytes = by_server("abc") + by_server("de", FrameType::binary, false) +
                            by_server("f", FrameType::more) + by_server("");
  EXPECT_TRUE(reader.feed(bytes, seen));
  EXPECT_EQ(seen.heard, "text3:9 binary3:2 text0:0 ");
  EXPECT_FALSE(reader.closed());
  EXPECT_FALSE(reader.no_room());
  EXPECT_EQ(reader.close_code(), 0);
}

TEST(WebSocket, AMessageInTwoPartsIsOneUnderItsMask) {
  for (std::size_t first = 0; first < 9; ++first) {
    const std::string payload = "one message of two parts";
    std::string bytes;
    WebSocketWriter(WebSocketSide::client)
        .text(bytes, std::string_view(payload).substr(0, first), payload.substr(first));
    EXPECT_EQ(heard(bytes, WebSocketSide::server), "text " + payload + "\n") << first;
  }
}

TEST(WebSocket, ALongMaskedMessageIsUnmaskedWhole) {
  std::string payload;
  while (payload.size() < 20'000) payload += format("{} ", payload.size());
  for (const std::size_t step : {std::size_t{1} << 20, std::size_t{4095}, std::size_t{4097}}) {
    const std::string bytes = by_client(payload, FrameType::binary);
    WebSocketReader reader(WebSocketSide::server);
    BehindEach seen;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      ASSERT_TRUE(reader.feed(std::string_view(bytes).substr(at, step), seen));
    }
    EXPECT_TRUE(seen.bytes == payload) << step;
  }
}

TEST(WebSocket, OnlyTheCodesOfTheRegistryMayBeSent) {
  std::string taken;
  for (int code = 990; code < 5010; ++code) {
    const std::string frame =
        by_server(std::string{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)},
                  FrameType::close);
    WebSocketReader reader(WebSocketSide::client);
    BehindEach seen;
    const bool sound = reader.feed(frame, seen);
    EXPECT_EQ(reader.closed(), sound);
    const bool known = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
                       (code >= 3000 && code <= 4999);
    if (sound != known) taken += format("{} ", code);
  }
  EXPECT_EQ(taken, "");
}

TEST(WebSocket, AMaskedMessageKeepsToTheBudgetToo) {
  MemoryBudget budget(100'000);
  WebSocketReader reader(WebSocketSide::server, &budget);
  BehindEach seen;
  EXPECT_FALSE(reader.feed(by_client(std::string(200'000, 'x')), seen));
  EXPECT_TRUE(reader.no_room());
  EXPECT_EQ(reader.error(), "there is no memory for a message");
  EXPECT_EQ(reader.close_code(), kCloseTooBig);
}

TEST(WebSocketHandshake, AHeadMayBe64KibLongAndABodyIsCutThere) {
  const std::size_t most = 64 * 1024;
  const auto head_of_size = [](std::size_t size) {
    const std::string open = kGood.substr(0, kGood.size() - 2) + "X: ";
    return open + std::string(size - open.size() - 4, 'x') + "\r\n\r\n";
  };
  for (const std::size_t more : {0U, 1U}) {
    ClientHandshake handshake(kKey);
    const std::string bytes = head_of_size(most + more);
    std::string_view left = bytes;
    EXPECT_EQ(handshake.feed(left),
              more == 0 ? ClientHandshake::State::open : ClientHandshake::State::refused);
  }
  ClientHandshake refusing(kKey);
  const std::string body(100'000, 'b');
  const std::string bytes = "HTTP/1.1 500 X\r\n\r\n" + body;
  std::string_view left = bytes;
  EXPECT_EQ(refusing.feed(left), ClientHandshake::State::refused);
  const std::size_t kept = refusing.body().size();
  EXPECT_EQ(kept, 4096U);
  left = "more";
  refusing.feed(left);
  EXPECT_EQ(refusing.body().size(), kept);
  EXPECT_TRUE(left.empty());
}

TEST(WebSocketHandshake, AnAnswerMayUseBareLineEndsAndListsOverLines) {
  std::string bare = kGood;
  std::erase(bare, '\r');
  ClientHandshake handshake(kKey);
  std::string_view left = bare;
  EXPECT_EQ(handshake.feed(left), ClientHandshake::State::open);
  const std::string lists =
      with("Connection: Upgrade", "CONNECTION: keep-alive\r\nConnection: x , upgrade");
  ClientHandshake other(kKey);
  left = lists;
  EXPECT_EQ(other.feed(left), ClientHandshake::State::open) << other.error();
  const std::string close_together = with("Upgrade: websocket", "Upgrade:h2c,websocket,x");
  ClientHandshake third(kKey);
  left = close_together;
  EXPECT_EQ(third.feed(left), ClientHandshake::State::open) << third.error();
  for (const auto& [line, why] :
       {std::pair{"HTTP/1.1 99 x", "0 the answer to the handshake is not HTTP"},
        {"HTTP/1.1", "0 the answer to the handshake is not HTTP"},
        {"HTTP/1.1 10x", "0 the answer to the handshake is not HTTP"},
        {"HTTP/1.1 10", "0 the answer to the handshake is not HTTP"},
        {"HTTP/2 101", "0 the answer to the handshake is not HTTP"},
        {"HTTP/1.0 200", "200 "}}) {
    EXPECT_EQ(refused(std::string(line) + "\r\n\r\n"), why) << line;
  }
  EXPECT_EQ(refused(with("Upgrade: websocket", "no colon")),
            "101 a header of the 101 has no colon");
}

TEST(WebSocket, AMessageInOnePieceIsReadWhereItLies) {
  class Places final : public WebSocketEvents {
   public:
    void on_message(bool, std::string_view data, std::size_t) override { places.push_back(data); }
    void on_ping(std::string_view) override {}
    void on_pong(std::string_view) override {}
    void on_close(std::uint16_t, std::string_view) override {}
    std::vector<std::string_view> places{};
  };
  const std::string bytes = by_server("Hello") + by_server("", FrameType::binary, false) +
                            by_server("whole", FrameType::more) + by_server("next");
  WebSocketReader reader(WebSocketSide::client);
  Places places;
  EXPECT_TRUE(reader.feed(bytes, places));
  ASSERT_EQ(places.places.size(), 3U);
  EXPECT_EQ(places.places[0].data(), bytes.data() + 2);
  EXPECT_EQ(places.places[2].data() + 4, bytes.data() + bytes.size());
}

TEST(WebSocket, AHeadIsAsLongAsItSaysAndNoByteLonger) {
  for (const auto& [size, bytes] : {std::pair{std::size_t{5}, std::size_t{2}},
                                    {std::size_t{126}, std::size_t{4}},
                                    {std::size_t{65'536}, std::size_t{10}}}) {
    std::string out(kServerFrameHeadMax + 1, '!');
    EXPECT_EQ(put_server_frame_head(out.data(), FrameType::text, size, true), bytes);
    EXPECT_EQ(out.substr(bytes), std::string(out.size() - bytes, '!'));
  }
}

}  // namespace
}  // namespace assay::net
