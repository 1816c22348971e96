#include "net/http2_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "net/testing_http2.h"

namespace assay::net {
namespace {

using ::testing::HasSubstr;

struct Reply {
  int status = 0;
  std::string body{};
  bool out = false;  // the request was
  int ended = 0;
  std::uint32_t code = 0;
  bool unprocessed = false;
  std::string broken{};

  bool operator==(const Reply&) const = default;
};

// A client that has sent `requests` requests, and its reaction to a server's bytes.
class Talk final : public Http2Events {
 public:
  explicit Talk(std::size_t requests, std::string_view body = "{}")
      : replies(requests), client(*this) {
    const std::vector<Http2Client::Header> fields{
        {":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}};
    for (Reply& reply : replies) streams.push_back(client.submit(fields, body, &reply));
    send();
  }
  // False when the connection is over.
  bool hear(std::string_view bytes) {
    const bool sound = client.feed(bytes);
    send();
    return sound && !client.over();
  }
  void send() {
    for (std::string_view out; !(out = client.output()).empty();) sent += out;
  }

  void on_head(void* user, const ResponseHead& head) override {
    static_cast<Reply*>(user)->status = head.status;
  }
  void on_body(void* user, std::string_view piece, std::size_t) override {
    static_cast<Reply*>(user)->body += piece;
  }
  void on_request_out(void* user) override { static_cast<Reply*>(user)->out = true; }
  void on_end(void* user, const Http2End& end) override {
    Reply& reply = *static_cast<Reply*>(user);
    ++reply.ended;
    reply.code = end.code;
    reply.unprocessed = end.unprocessed;
    reply.broken = end.broken;
  }

  std::vector<Reply> replies;
  std::vector<std::int32_t> streams{};
  std::string sent{};
  Http2Client client;
};

// Our SETTINGS are in force: frames may be as large as they say.
const std::string kAcknowledged = frame(FrameType::settings, 1, 0, "");
const std::string kPing = frame(FrameType::ping, 0, 0, "12345678");

TEST(Http2Client, a_reply_is_its_head_and_its_body) {
  Talk talk(2);
  EXPECT_FALSE(talk.client.begun());
  EXPECT_TRUE(talk.hear(settings() + head(1) + data(1, "one") + data(1, "", kEndStream)));
  EXPECT_TRUE(talk.client.begun());
  EXPECT_EQ(talk.replies[0], (Reply{.status = 200, .body = "one", .out = true, .ended = 1}));
  EXPECT_EQ(talk.replies[1].ended, 0);
  EXPECT_EQ(talk.client.error(), "");
}

// Frames that no server may send: each ends the connection at once, with an error that names it.
TEST(Http2Client, every_way_to_break_the_protocol_is_named_at_once) {
  struct Case {
    const char* name;
    std::string bytes;
    const char* words;
  };
  const std::vector<Case> cases{
      {"noise", std::string(5000, '\xFF'), "FRAME_SIZE_ERROR"},
      {"a frame too long", big_endian(0xFFFFFF, 3) + std::string("\0\0\0\0\0\1", 6),
       "FRAME_SIZE_ERROR"},
      {"a push", frame(FrameType::push_promise, kEndHeaders, 1, big_endian(2) + kStatus200),
       "PROTOCOL_ERROR"},
      {"a window of nothing", frame(FrameType::window_update, 0, 0, big_endian(0)),
       "PROTOCOL_ERROR"},
      {"a stream's window of nothing", frame(FrameType::window_update, 0, 1, big_endian(0)),
       "PROTOCOL_ERROR"},
      {"a window too large",
       frame(FrameType::window_update, 0, 0, big_endian(0x7fffffff)) +
           frame(FrameType::window_update, 0, 0, big_endian(0x7fffffff)),
       "FLOW_CONTROL_ERROR"},
      {"an initial window too large", settings(setting(kInitialWindow, 0x80000000)),
       "FLOW_CONTROL_ERROR"},
      {"a head on a stream never opened", head(99), "PROTOCOL_ERROR"},
      {"data on a stream never opened", data(99, "x"), "PROTOCOL_ERROR"},
      {"data before a head", data(1, "x"), "PROTOCOL_ERROR"},
      {"settings of half a setting", settings("\1\2\3"), "FRAME_SIZE_ERROR"},
      {"settings on a stream", frame(FrameType::settings, 0, 1, ""), "PROTOCOL_ERROR"},
      {"a ping on a stream", frame(FrameType::ping, 0, 1, "12345678"), "PROTOCOL_ERROR"},
      {"a ping too short", frame(FrameType::ping, 0, 0, "1234"), "FRAME_SIZE_ERROR"},
      {"a continuation of nothing", frame(FrameType::continuation, kEndHeaders, 1, ""),
       "PROTOCOL_ERROR"},
      {"a frame inside a head", head(1, kStatus200, 0) + kPing, "PROTOCOL_ERROR"},
      {"an index that no table has", head(1, "\xFE"), "COMPRESSION_ERROR"},
      {"padding longer than its frame", frame(FrameType::data, 8, 1, "\xFFxy"), "PROTOCOL_ERROR"},
      {"a reset of no stream", reset(0, 0), "PROTOCOL_ERROR"},
      {"a short reset", frame(FrameType::rst_stream, 0, 1, "1"), "FRAME_SIZE_ERROR"},
      {"a reset of a stream never opened", reset(77, 0), "PROTOCOL_ERROR"},
      {"a short goaway", frame(FrameType::goaway, 0, 0, "1"), "FRAME_SIZE_ERROR"},
      {"server push switched on", settings(setting(2, 2)), "PROTOCOL_ERROR"},
      {"frames of a size that is not allowed", settings(setting(5, 1)), "PROTOCOL_ERROR"},
  };
  for (const Case& c : cases) {
    Talk talk(1);
    ASSERT_TRUE(talk.hear(settings())) << c.name;
    EXPECT_FALSE(talk.hear(c.bytes)) << c.name;
    EXPECT_TRUE(talk.client.broken()) << c.name;
    EXPECT_THAT(talk.client.error(), HasSubstr(c.words)) << c.name;
    EXPECT_EQ(talk.replies[0].ended, 0) << c.name << ": its owner ends it, with those words";
  }
}

// A fault in one reply ends only that reply.
TEST(Http2Client, what_is_wrong_with_one_reply_costs_no_other) {
  struct Case {
    const char* name;
    std::string bytes;
  };
  const std::vector<Case> cases{
      {"a body shorter than its length",
       head(1, kStatus200 + literal("content-length", "5")) + data(1, "abc", kEndStream)},
      {"a body longer than its length",
       head(1, kStatus200 + literal("content-length", "2")) + data(1, "abc", kEndStream)},
      {"a name in capitals", head(1, kStatus200 + literal("Upper", "1"))},
      {"no status", head(1, literal("server", "x"))},
      {"two statuses", head(1, kStatus200 + kStatus200)},
      {"a status that is no number", head(1, literal(":status", "abc"))},
      {"a field of connections", head(1, kStatus200 + literal("connection", "close"))},
      {"trailers that end nothing", head(1) + data(1, "x") + head(1, literal("a", "b"))},
  };
  for (const Case& c : cases) {
    Talk talk(2);
    ASSERT_TRUE(talk.hear(settings() + c.bytes)) << c.name << ": " << talk.client.error();
    EXPECT_EQ(talk.replies[0].ended, 1) << c.name;
    EXPECT_NE(talk.replies[0].code, 0U) << c.name;
    EXPECT_THAT(talk.replies[0].broken, HasSubstr("PROTOCOL_ERROR")) << c.name;
    EXPECT_FALSE(talk.replies[0].unprocessed) << c.name;
    EXPECT_TRUE(talk.hear(head(3) + data(3, "two", kEndStream))) << c.name;
    EXPECT_EQ(talk.replies[1].body, "two") << c.name;
    EXPECT_EQ(talk.replies[1].code, 0U) << c.name;
  }
}

TEST(Http2Client, a_goaway_tells_the_streams_that_were_not_processed) {
  for (const std::uint32_t error : {0U, 2U, 11U}) {
    Talk talk(3);
    talk.hear(settings() + goaway(3, error, "bye\n"));
    EXPECT_TRUE(talk.client.going_away());
    EXPECT_EQ(talk.client.submit({}, "", nullptr), -1);
    EXPECT_EQ(talk.replies[0].ended, 0);
    EXPECT_EQ(talk.replies[1].ended, 0);
    EXPECT_TRUE(talk.replies[2].unprocessed);
    EXPECT_EQ(talk.client.error().empty(), error == 0);
    EXPECT_FALSE(talk.client.broken());
    EXPECT_FALSE(talk.client.over()) << "two replies are to come";
    EXPECT_TRUE(talk.hear(head(1) + data(1, "", kEndStream)));
    EXPECT_FALSE(talk.hear(head(3) + data(3, "", kEndStream)));
    EXPECT_EQ(talk.replies[1].code, 0U);
  }
}

TEST(Http2Client, a_stream_that_the_server_refuses_was_not_processed_and_a_reset_one_may_be) {
  for (std::uint32_t code = 0; code < 16; ++code) {
    Talk talk(1);
    EXPECT_TRUE(talk.hear(settings() + reset(1, code)));
    EXPECT_EQ(talk.replies[0].ended, 1) << code;
    EXPECT_EQ(talk.replies[0].unprocessed, code == 7) << code;
    EXPECT_EQ(talk.replies[0].broken, "") << code;
  }
}

TEST(Http2Client, what_the_server_allows_is_what_goes_out) {
  Talk talk(0);
  ASSERT_TRUE(talk.hear(settings(setting(kConcurrentStreams, 1))));
  EXPECT_EQ(talk.client.streams_max(), 1U);
  talk.replies.resize(2);
  const std::vector<Http2Client::Header> fields{
      {":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}};
  for (Reply& reply : talk.replies) talk.client.submit(fields, "{}", &reply);
  talk.send();
  EXPECT_TRUE(talk.replies[0].out);
  EXPECT_FALSE(talk.replies[1].out);
  EXPECT_TRUE(talk.hear(head(1) + data(1, "", kEndStream)));
  EXPECT_TRUE(talk.replies[1].out);
}

TEST(Http2Client, a_request_is_out_when_the_window_took_its_last_byte) {
  Talk talk(1, std::string(70'000, 'x'));
  EXPECT_TRUE(talk.hear(settings()));
  EXPECT_FALSE(talk.replies[0].out) << "the window is 65,535 bytes";
  EXPECT_TRUE(talk.hear(frame(FrameType::window_update, 0, 0, big_endian(10'000)) +
                        frame(FrameType::window_update, 0, 1, big_endian(10'000))));
  EXPECT_TRUE(talk.replies[0].out);
}

TEST(Http2Client, floods_end) {
  const std::string empty_data = data(1, "");
  const std::string interim = head(1, literal(":status", "103"));
  for (const std::string& one :
       {kPing, settings(), empty_data, interim, frame(FrameType::priority, 0, 1, "\0\0\0\0\1"),
        frame(static_cast<FrameType>(0xBB), 0, 0, std::string(16'000, 'x')),
        frame(FrameType::window_update, 0, 1, big_endian(1)), head(1, kStatus200, 0)}) {
    Talk talk(1);
    ASSERT_TRUE(talk.hear(settings() + (one == empty_data ? head(1) : "")));
    std::uint32_t times = 0;
    bool going_on = true;
    const bool is_head = one == head(1, kStatus200, 0);
    for (; going_on && times <= Http2Client::kIdleFramesMax; ++times) {
      going_on = talk.hear(is_head && times > 0 ? frame(FrameType::continuation, 0, 1, "") : one);
    }
    EXPECT_FALSE(going_on) << static_cast<int>(one[3]);
    EXPECT_LT(talk.sent.size(), std::size_t{1} << 20);
  }
}

TEST(Http2Client, frames_between_the_bytes_of_a_reply_are_no_flood) {
  Talk talk(1);
  ASSERT_TRUE(talk.hear(settings() + head(1)));
  for (std::uint32_t i = 0; i < 3 * Http2Client::kIdleFramesMax / 100; ++i) {
    for (int n = 0; n < 100; ++n) ASSERT_TRUE(talk.hear(kPing));
    ASSERT_TRUE(talk.hear(data(1, "x")));
  }
}

TEST(Http2Client, heads_and_trailers_are_bounded) {
  const std::string much = literal("x-much", std::string(8000, 'm'));
  std::string fields;
  for (int i = 0; i < 9; ++i) fields += much;
  for (const std::string& bytes :
       {head(1, kStatus200 + fields), head(1) + data(1, "x") + head(1, fields, 5)}) {
    Talk talk(1);
    EXPECT_FALSE(talk.hear(settings() + kAcknowledged + bytes));
    EXPECT_THAT(talk.client.error(), HasSubstr("more than 64 KiB"));
  }
  // A bomb: one byte of HPACK refers to a table entry of 4,000 bytes.
  const std::string kept = "\x40" + literal("x-bomb", std::string(3900, 'b')).substr(1);
  Talk talk(1);
  EXPECT_FALSE(talk.hear(settings() + kAcknowledged +
                         head(1, kStatus200 + kept + std::string(5000, '\xBE'))));
  EXPECT_THAT(talk.client.error(), HasSubstr("more than 64 KiB"));
}

TEST(Http2Client, another_protocol_is_named) {
  const std::pair<std::string, const char*> cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "answers in HTTP/1"},
      {std::string("\x15\x03\x01\0\x02\x02\x46", 7), "speaks TLS"},
      {"SSH-2.0-OpenSSH_9.2\r\n", "speaks SSH"}};
  for (const auto& [bytes, words] : cases) {
    Talk talk(1);
    talk.hear(bytes);
    EXPECT_THAT(talk.client.error(), HasSubstr(words));
  }
}

TEST(Http2Client, a_connection_that_does_not_begin_with_settings_is_broken) {
  Talk talk(1);
  EXPECT_FALSE(talk.hear(head(1)));
  EXPECT_THAT(talk.client.error(), HasSubstr("SETTINGS"));
}

TEST(Http2Client, the_same_however_the_bytes_are_cut) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    std::string bytes = settings() + head(1);
    for (std::uint64_t i = rng.below(5); i-- > 0;) {
      bytes += data(1, std::string(rng.below(40), 'b')) + (rng.below(2) == 0 ? kPing : "");
    }
    bytes += data(1, "", kEndStream) + reset(3, static_cast<std::uint32_t>(rng.below(14)));
    if (rng.below(2) == 0) bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    Talk whole(2);
    whole.hear(bytes);
    Talk pieces(2);
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = 1 + rng.below(9);
      if (!pieces.hear(std::string_view(bytes).substr(at, size))) break;
      at += size;
    }
    EXPECT_EQ(whole.replies, pieces.replies) << "seed " << seed;
    EXPECT_EQ(whole.client.error(), pieces.client.error()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace assay::net
