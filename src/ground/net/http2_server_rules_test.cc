// Http2Server and Http2Reply by the frames that they read and write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/format.h"
#include "net/http2_reply.h"
#include "net/http2_server.h"
#include "net/testing_http2.h"
#include "net/testing_memory.h"

namespace assay::net {
namespace {

using testing::ElementsAre;

const std::string kAsks = literal(":method", "POST") + literal(":scheme", "http") +
                          literal(":authority", "h") + literal(":path", "/");

// A server that a peer has greeted, and the frames that it has sent since.
struct GreetedServer {
  explicit GreetedServer(const RequestLimits& limits = {}) : server(limits) {
    EXPECT_TRUE(server.feed("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + settings()));
    while (!server.output().empty()) {
    }
  }
  void ask(std::uint32_t stream) {
    EXPECT_TRUE(server.feed(head(stream, kAsks, kEndHeaders | kEndStream)));
    EXPECT_NE(server.take_request(), nullptr);
  }
  // "type/flags/stream/bytes" of each frame.
  std::vector<std::string> frames() {
    std::string out;
    for (std::string_view more = server.output(); !more.empty(); more = server.output()) {
      out += more;
    }
    std::vector<std::string> told;
    for (std::size_t at = 0; at + 9 <= out.size();) {
      const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(out[at + i]); };
      const std::size_t size = std::size_t{byte(0)} << 16 | std::size_t{byte(1)} << 8 | byte(2);
      told.push_back(format("{}/{}/{}/{}", byte(3), byte(4), byte(8), size));
      at += 9 + size;
    }
    return told;
  }
  Http2Server server;
};

TEST(Http2ServerRules, a_request_says_how_long_its_body_is_and_has_zeros_behind_it) {
  GreetedServer peer;
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{15}}) {
    const auto stream = static_cast<std::uint32_t>(2 * size + 1);
    ASSERT_TRUE(
        peer.server.feed(head(stream, kAsks) + data(stream, std::string(size, 'x'), kEndStream)));
    const Http2Request* const request = peer.server.take_request();
    ASSERT_NE(request, nullptr);
    EXPECT_EQ(request->stream, static_cast<std::int32_t>(stream));
    EXPECT_EQ(request->head.content_length, size);
    EXPECT_EQ(request->body, std::string(size, 'x'));
    EXPECT_EQ(std::string_view(request->body.data() + size, kRequestPadding),
              std::string(kRequestPadding, '\0'));
  }
}

TEST(Http2ServerRules, fields_that_end_a_request_without_a_body_are_none_of_the_head) {
  GreetedServer peer;
  ASSERT_TRUE(
      peer.server.feed(head(1, kAsks) + head(1, literal("x-late", "y"), kEndHeaders | kEndStream)));
  const Http2Request* const request = peer.server.take_request();
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(request->head.find("x-late"), "");
}

TEST(Http2ServerRules, a_request_that_was_refused_is_not_taken_and_its_body_not_kept) {
  GreetedServer peer({.head_bytes_max = 300, .body_bytes_max = 10});
  ASSERT_TRUE(peer.server.feed(
      head(1, kAsks) + data(1, "0123456789a", kEndStream) +
      head(3, kAsks + literal("x", std::string(200, 'x')), kEndHeaders | kEndStream)));
  EXPECT_EQ(peer.server.take_request(), nullptr);
  EXPECT_EQ(peer.server.take_gone(), 0);
  EXPECT_EQ(peer.frames().size(), 2U) << "a status each";

  GreetedServer large({.head_bytes_max = 300, .body_bytes_max = 10'000'000});
  ASSERT_TRUE(large.server.feed(head(1, kAsks + literal("x", std::string(200, 'x')))));
  const std::string piece = data(1, std::string(16'000, 'b'));
  EXPECT_LT(bytes_kept_by(100, [&] { large.server.feed(piece); }), 100'000);
}

TEST(Http2ServerRules, streams_that_were_given_up_are_told_in_their_order) {
  GreetedServer peer;
  for (const std::uint32_t stream : {1U, 3U, 5U}) peer.ask(stream);
  ASSERT_TRUE(peer.server.feed(reset(5, 8) + reset(1, 8)));
  EXPECT_EQ(peer.server.take_gone(), 5);
  EXPECT_EQ(peer.server.take_gone(), 1);
  EXPECT_EQ(peer.server.take_gone(), 0);
}

TEST(Http2ServerRules, a_stream_that_has_ended_is_no_other) {
  GreetedServer peer;
  peer.ask(1);
  ASSERT_TRUE(peer.server.feed(reset(1, 8)));
  peer.ask(3);
  peer.server.head(3, 200, {}, false);
  peer.frames();
  peer.server.body(1, "late");
  EXPECT_EQ(peer.server.waiting_bytes(1), 0U);
  EXPECT_EQ(peer.server.waiting_bytes(3), 0U);
}

TEST(Http2ServerRules, the_parts_of_a_reply_count_in_their_order_alone) {
  const std::vector<HttpHeader> trailers{{"a", "b"}};
  GreetedServer peer;
  peer.ask(1);
  peer.server.body(1, "early");
  peer.server.end(1, trailers);
  EXPECT_THAT(peer.frames(), ElementsAre());
  peer.server.head(1, 200, {}, false);
  peer.server.head(1, 404, {}, true);
  EXPECT_THAT(peer.frames(), ElementsAre("1/4/1/1"));
  peer.server.body(1, "");
  EXPECT_THAT(peer.frames(), ElementsAre());
  peer.server.body(1, "abc");
  peer.server.end(1, trailers);
  peer.server.body(1, "late");
  peer.server.end(1, {});
  EXPECT_THAT(peer.frames(), ElementsAre("0/0/1/3", "1/5/1/5"));
  EXPECT_EQ(peer.server.take_gone(), 0);
  // A stream that never was has none of them.
  peer.server.head(9, 200, {}, true);
  peer.server.body(9, "x");
  peer.server.end(9, {});
  peer.server.reset(9);
  EXPECT_EQ(peer.server.waiting_bytes(9), 0U);
  EXPECT_THAT(peer.frames(), ElementsAre());
}

TEST(Http2ServerRules, behind_a_head_that_is_all_comes_nothing) {
  GreetedServer peer;
  peer.ask(1);
  peer.server.head(1, 200, {}, true);
  peer.server.body(1, "x");
  peer.server.end(1, {});
  EXPECT_EQ(peer.server.waiting_bytes(1), 0U);
  EXPECT_THAT(peer.frames(), ElementsAre("1/5/1/1"));
  EXPECT_EQ(peer.server.take_gone(), 0) << "its reply was complete";
}

TEST(Http2ServerRules, what_waits_is_what_no_frame_has_taken) {
  GreetedServer peer;
  peer.ask(1);
  peer.server.head(1, 200, {}, false);
  peer.server.body(1, std::string(70'000, 'x'));
  EXPECT_EQ(peer.server.waiting_bytes(1), 70'000U);
  EXPECT_EQ(peer.server.output().size(), 9U + 1);
  std::size_t left = 70'000;
  for (const std::size_t size : {16'384U, 16'384U, 16'384U, 16'383U}) {  // the window is 65,535
    EXPECT_EQ(peer.server.output().size(), 9 + size);
    left -= size;
    EXPECT_EQ(peer.server.waiting_bytes(1), left);
  }
  EXPECT_TRUE(peer.server.output().empty());
  EXPECT_TRUE(peer.server.feed(frame(Http2FrameType::window_update, 0, 0, big_endian(10'000)) +
                               frame(Http2FrameType::window_update, 0, 1, big_endian(10'000))));
  EXPECT_THAT(peer.frames(), ElementsAre("0/0/1/4465"));
  EXPECT_EQ(peer.server.waiting_bytes(1), 0U);
}

TEST(Http2ServerRules, a_server_that_ends_gives_back_all_its_memory) {
  EXPECT_LT(bytes_kept_by(100,
                          [] {
                            GreetedServer peer;
                            peer.ask(1);
                            peer.server.head(1, 200, {}, false);
                            peer.server.body(1, std::string(100'000, 'x'));
                          }),
            1000);
}

TEST(Http2ReplyRules, early_hints_are_passed_on_and_a_continue_is_not) {
  GreetedServer peer;
  peer.ask(1);
  Http2Reply reply(1, false);
  reply.feed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 X\r\n\r\nHTTP/1.1 103 Hints\r\n\r\n",
             peer.server);
  EXPECT_FALSE(reply.complete());
  EXPECT_EQ(peer.frames().size(), 1U);
  reply.feed("HTTP/1.1 102 Processing\r\n\r\n", peer.server);
  EXPECT_EQ(peer.frames().size(), 1U);
}

TEST(Http2ReplyRules, a_status_is_a_number_of_three_digits) {
  struct Row {
    const char* bytes;
    bool taken;
  };
  for (const Row& row : {Row{"HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n", true},
                         {"HTTP/1.1 200 OK:\nContent-Length:0\n\n", true},
                         {"HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n", true},
                         {"HTTP/1.1 1000 X\r\n\r\n", false},
                         {"HTTP/1.1 099 X\r\n\r\n", false},
                         {"HTTP/1.1 20x OK\r\n\r\n", false},
                         {"HTTP/1.1 200,5 OK\r\n\r\n", false},
                         {"HTTP/1.1 \r\n200: x\r\n\r\n", false},
                         {"HTTP/1.\r\n\r\n", false},
                         {"\n", false},
                         {"HTTP/2.1 200 OK\r\n\r\n", false}}) {
    GreetedServer peer;
    peer.ask(1);
    Http2Reply reply(1, false);
    reply.feed(row.bytes, peer.server);
    EXPECT_TRUE(reply.complete()) << row.bytes;
    const auto frames = peer.frames();
    ASSERT_EQ(frames.size(), 1U) << row.bytes;
    EXPECT_EQ(frames[0].substr(0, 3), row.taken ? "1/5" : "3/0") << row.bytes;
  }
}

TEST(Http2ReplyRules, a_head_and_trailers_end_at_an_empty_line_alone) {
  GreetedServer peer;
  peer.ask(1);
  Http2Reply first(1, false);
  first.feed("S\r\n", peer.server);
  EXPECT_FALSE(first.complete());
  first.feed("\r\n", peer.server);
  EXPECT_TRUE(first.complete());
  peer.frames();

  peer.ask(3);
  Http2Reply reply(3, false);
  reply.feed("HTTP/1.1 200 OK\r\nTransfer-Encoding:chunked\r\n\r\n1\r\na\r\n0\r\nx\r\nA:b\r\n",
             peer.server);
  EXPECT_FALSE(reply.complete());
  EXPECT_THAT(peer.frames(), ElementsAre("1/4/3/1", "0/0/3/1"));
  reply.feed("\r\n", peer.server);
  EXPECT_TRUE(reply.complete());
  EXPECT_THAT(peer.frames(), ElementsAre("1/5/3/5"));
}

TEST(Http2ReplyRules, a_length_that_is_no_number_is_none) {
  GreetedServer peer;
  peer.ask(1);
  Http2Reply reply(1, false);
  reply.feed("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nabc", peer.server);
  EXPECT_FALSE(reply.complete());
  peer.ask(3);
  Http2Reply counted(3, false);
  counted.feed("HTTP/1.1 200 OK\r\nContent-Length:3\r\n\r\nab", peer.server);
  EXPECT_FALSE(counted.complete());
  counted.feed("cd", peer.server);
  EXPECT_TRUE(counted.complete());
}

}  // namespace
}  // namespace assay::net
