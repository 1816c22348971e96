#include "net/http2_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/format.h"
#include "base/rng.h"
#include "net/testing_http2.h"
#include "net/testing_http2_client.h"

namespace assay::net {
namespace {

using ::testing::HasSubstr;

TEST(Http2Client, a_reply_is_its_head_and_its_body) {
  Talk talk(2);
  EXPECT_FALSE(talk.client.begun());
  EXPECT_TRUE(talk.hear(settings() + head(1) + data(1, "one") + data(1, "", kEndStream)));
  EXPECT_TRUE(talk.client.begun());
  EXPECT_EQ(talk.replies[0], (TalkReply{.status = 200, .body = "one", .out = true, .ended = 1}));
  EXPECT_EQ(talk.replies[1].ended, 0);
  EXPECT_EQ(talk.client.error(), "");
}

TEST(Http2Client, a_request_that_has_ended_is_forgotten_without_a_word) {
  Talk talk(1);
  EXPECT_TRUE(talk.hear(settings() + head(1)));
  talk.sent.clear();
  talk.when_ended = [&] { talk.client.forget(talk.streams[0]); };
  EXPECT_TRUE(talk.hear(data(1, "x", kEndStream)));
  EXPECT_EQ(talk.replies[0].ended, 1);
  EXPECT_EQ(talk.sent, "");
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
      {"a push", frame(Http2FrameType::push_promise, kEndHeaders, 1, big_endian(2) + kStatus200),
       "PROTOCOL_ERROR"},
      {"a window of nothing", frame(Http2FrameType::window_update, 0, 0, big_endian(0)),
       "PROTOCOL_ERROR"},
      {"a stream's window of nothing", frame(Http2FrameType::window_update, 0, 1, big_endian(0)),
       "PROTOCOL_ERROR"},
      {"a window too large",
       frame(Http2FrameType::window_update, 0, 0, big_endian(0x7fffffff)) +
           frame(Http2FrameType::window_update, 0, 0, big_endian(0x7fffffff)),
       "FLOW_CONTROL_ERROR"},
      {"an initial window too large", settings(setting(kInitialWindow, 0x80000000)),
       "FLOW_CONTROL_ERROR"},
      {"a head on a stream never opened", head(99), "PROTOCOL_ERROR"},
      {"data on a stream never opened", data(99, "x"), "PROTOCOL_ERROR"},
      {"data before a head", data(1, "x"), "PROTOCOL_ERROR"},
      {"settings of half a setting", settings("\1\2\3"), "FRAME_SIZE_ERROR"},
      {"settings on a stream", frame(Http2FrameType::settings, 0, 1, ""), "PROTOCOL_ERROR"},
      {"a ping on a stream", frame(Http2FrameType::ping, 0, 1, "12345678"), "PROTOCOL_ERROR"},
      {"a ping too short", frame(Http2FrameType::ping, 0, 0, "1234"), "FRAME_SIZE_ERROR"},
      {"a continuation of nothing", frame(Http2FrameType::continuation, kEndHeaders, 1, ""),
       "PROTOCOL_ERROR"},
      {"a frame inside a head", head(1, kStatus200, 0) + kPing, "PROTOCOL_ERROR"},
      {"an index that no table has", head(1, "\xFE"), "COMPRESSION_ERROR"},
      {"padding longer than its frame", frame(Http2FrameType::data, 8, 1, "\xFFxy"),
       "PROTOCOL_ERROR"},
      {"a reset of no stream", reset(0, 0), "PROTOCOL_ERROR"},
      {"a short reset", frame(Http2FrameType::rst_stream, 0, 1, "1"), "FRAME_SIZE_ERROR"},
      {"a reset of a stream never opened", reset(77, 0), "PROTOCOL_ERROR"},
      {"a short goaway", frame(Http2FrameType::goaway, 0, 0, "1"), "FRAME_SIZE_ERROR"},
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
      {"a status that is not a number", head(1, literal(":status", "abc"))},
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
  for (TalkReply& reply : talk.replies) talk.client.submit(fields, "{}", &reply);
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
  EXPECT_TRUE(talk.hear(frame(Http2FrameType::window_update, 0, 0, big_endian(10'000)) +
                        frame(Http2FrameType::window_update, 0, 1, big_endian(10'000))));
  EXPECT_TRUE(talk.replies[0].out);
}

TEST(Http2Client, floods_end) {
  const std::string empty_data = data(1, "");
  const std::string interim = head(1, literal(":status", "103"));
  for (const std::string& one :
       {kPing, settings(), empty_data, interim, frame(Http2FrameType::priority, 0, 1, "\0\0\0\0\1"),
        frame(static_cast<Http2FrameType>(0xBB), 0, 0, std::string(16'000, 'x')),
        frame(Http2FrameType::window_update, 0, 1, big_endian(1)), head(1, kStatus200, 0)}) {
    Talk talk(1);
    ASSERT_TRUE(talk.hear(settings() + (one == empty_data ? head(1) : "")));
    std::uint32_t times = 0;
    bool going_on = true;
    const bool is_head = one == head(1, kStatus200, 0);
    for (; going_on && times <= Http2Client::kIdleFramesMax; ++times) {
      going_on =
          talk.hear(is_head && times > 0 ? frame(Http2FrameType::continuation, 0, 1, "") : one);
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

TEST(Http2Client, windows_through_which_the_request_goes_out_are_no_flood) {
  constexpr std::uint32_t kBytes = Http2Client::kIdleFramesMax;
  Talk talk(1, std::string(kFirstWindow + kBytes, 'x'));
  ASSERT_TRUE(talk.hear(settings()));
  for (std::uint32_t i = 0; i < kBytes; ++i) {
    EXPECT_FALSE(talk.replies[0].out);
    ASSERT_TRUE(talk.hear(frame(Http2FrameType::window_update, 0, 0, big_endian(1)) +
                          frame(Http2FrameType::window_update, 0, 1, big_endian(1))));
  }
  EXPECT_TRUE(talk.replies[0].out);
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

ResponseHead head_of(const std::string& status, const std::string& fields) {
  Talk talk(1);
  EXPECT_TRUE(talk.hear(settings() + head(1, literal(":status", status) + fields)));
  EXPECT_EQ(talk.replies[0].heads, 1);
  return talk.replies[0].head;
}

TEST(Http2Client, each_field_that_is_acted_on_is_read) {
  const ResponseHead ok = head_of(
      "200", literal("content-type", "text/event-stream") + literal("content-encoding", "br") +
                 literal("content-length", "12") + literal("location", "/a"));
  EXPECT_EQ(ok.status, 200);
  EXPECT_EQ(ok.type, ContentType::event_stream);
  EXPECT_EQ(ok.coding, ContentCoding::br);
  EXPECT_TRUE(ok.has_length);
  EXPECT_EQ(ok.length, 12U);
  EXPECT_EQ(ok.location, "") << "a place is read of redirects only";
  EXPECT_EQ(ok.grpc_status, -1);
  const ResponseHead plain = head_of("200", literal("x", "y"));
  EXPECT_EQ(plain.type, ContentType::none);
  EXPECT_EQ(plain.coding, ContentCoding::identity);
  EXPECT_FALSE(plain.has_length);
  EXPECT_EQ(head_of("302", literal("location", "/a")).location, "/a");
  EXPECT_EQ(head_of("429", literal("retry-after", "8")).retry_after_s(), 8);
  const std::string dates = literal("retry-after", "Wed, 21 Oct 2015 07:28:09 GMT") +
                            literal("date", "Wed, 21 Oct 2015 07:28:00 GMT");
  EXPECT_EQ(head_of("503", dates).retry_after_s(), 9);
  EXPECT_EQ(head_of("200", dates).retry_after_s(), -1);
  for (const auto& [said, status] :
       {std::pair{"0", 0}, {"14", 14}, {"-1", 2}, {"5x", 2}, {"", 2}}) {
    const ResponseHead call =
        head_of("200", literal("grpc-status", said) + literal("grpc-message", "words"));
    EXPECT_EQ(call.grpc_status, status) << said;
    EXPECT_EQ(call.grpc_message, "words");
  }
}

TEST(Http2Client, an_interim_head_is_none_and_trailers_are_no_second_one) {
  Talk talk(1);
  EXPECT_TRUE(talk.hear(
      settings() + head(1, literal(":status", "103") + literal("content-type", "text/plain"))));
  EXPECT_EQ(talk.replies[0].heads, 0);
  EXPECT_TRUE(talk.hear(head(1) + data(1, "ab") + data(1, "c") +
                        head(1, literal("grpc-status", "3") + literal("grpc-message", "why"),
                             kEndHeaders | kEndStream)));
  const TalkReply& reply = talk.replies[0];
  EXPECT_EQ(reply.heads, 1);
  EXPECT_EQ(reply.head.type, ContentType::none) << "of the interim head nothing is left";
  EXPECT_EQ(reply.ended, 1);
  EXPECT_EQ(reply.grpc_status, 3);
  EXPECT_EQ(reply.grpc_message, "why");
  // Behind "ab": a frame of 9 + 1 bytes, and the trailers'. Behind "c": those only.
  ASSERT_EQ(reply.behind.size(), 2U);
  EXPECT_EQ(reply.behind[0], reply.behind[1] + 10);
  EXPECT_EQ(reply.behind[1],
            head(1, literal("grpc-status", "3") + literal("grpc-message", "why")).size());
}

TEST(Http2Client, a_cancelled_stream_is_told_and_a_forgotten_one_is_not) {
  Talk talk(3);
  EXPECT_TRUE(talk.hear(settings() + head(1)));
  talk.client.cancel(talk.streams[0]);
  talk.client.forget(talk.streams[1]);
  talk.client.forget(99);  // no stream
  talk.send();
  EXPECT_EQ(talk.replies[0].ended, 1);
  EXPECT_EQ(talk.replies[0].code, 8U);
  EXPECT_EQ(talk.replies[0].broken, "");
  EXPECT_FALSE(talk.replies[0].unprocessed);
  EXPECT_TRUE(talk.hear(head(3) + data(3, "late") + data(3, "", kEndStream) + head(5) +
                        data(5, "whole", kEndStream)));
  EXPECT_EQ(talk.replies[1], TalkReply{.out = true});
  EXPECT_EQ(talk.replies[1].heads, 0);
  EXPECT_EQ(talk.replies[2].body, "whole");
}

TEST(Http2Client, what_was_cancelled_before_it_went_out_was_not_processed) {
  Talk talk(0);
  ASSERT_TRUE(talk.hear(settings(setting(kConcurrentStreams, 1))));
  talk.replies.resize(2);
  const std::vector<Http2Client::Header> fields{
      {":method", "POST"}, {":scheme", "http"}, {":authority", "h"}, {":path", "/"}};
  for (TalkReply& reply : talk.replies)
    talk.streams.push_back(talk.client.submit(fields, "{}", &reply));
  talk.send();
  talk.client.cancel(talk.streams[1]);
  EXPECT_TRUE(talk.hear(head(1) + data(1, "", kEndStream)));
  EXPECT_EQ(talk.replies[1].ended, 1);
  EXPECT_TRUE(talk.replies[1].unprocessed);
  EXPECT_FALSE(talk.replies[0].unprocessed);
}

TEST(Http2Client, the_words_of_a_goaway_are_shown_short) {
  const auto said = [](std::uint32_t code, const std::string& words) {
    Talk talk(1);
    talk.hear(settings() + goaway(1, code, words));
    return talk.client.error();
  };
  EXPECT_EQ(said(0, "bye"), "");
  EXPECT_EQ(said(2, ""), "GOAWAY: INTERNAL_ERROR");
  EXPECT_EQ(said(11, "bye"), "GOAWAY: ENHANCE_YOUR_CALM: bye");
  EXPECT_EQ(said(11, std::string(201, 'x')), "GOAWAY: ENHANCE_YOUR_CALM: " + std::string(200, 'x'));
}

TEST(Http2Client, a_head_may_be_64_kib_long_and_no_byte_more) {
  // Each field counts 32 bytes more than its name and value: ":status" and "200" are 42.
  for (const std::size_t more : {0U, 1U}) {
    Talk talk(1);
    const std::string fields = literal("x", std::string(30'000, 'a')) +
                               literal("x", std::string(65'536 - 42 - 66 - 30'000 + more, 'b'));
    EXPECT_EQ(talk.hear(settings() + kAcknowledged + head(1, kStatus200 + fields)), more == 0);
    EXPECT_EQ(talk.replies[0].heads, more == 0 ? 1 : 0);
  }
}

TEST(Http2Client, a_flood_is_counted_to_the_frame_and_to_the_byte) {
  const std::string begin = settings() + kAcknowledged + head(1) + data(1, "x");
  Talk frames(1);
  ASSERT_TRUE(frames.hear(begin));
  for (std::uint32_t i = 0; i < Http2Client::kIdleFramesMax; ++i) ASSERT_TRUE(frames.hear(kPing));
  EXPECT_FALSE(frames.hear(kPing));
  EXPECT_EQ(frames.client.error(), "HTTP/2: 10000 frames in a row that bring nothing of a reply");
  Talk first(1);
  ASSERT_TRUE(first.hear(settings()));  // the first of them
  for (std::uint32_t i = 1; i < Http2Client::kIdleFramesMax; ++i) ASSERT_TRUE(first.hear(kPing));
  EXPECT_FALSE(first.hear(kPing));
  // The bytes of a feed that brought something count too.
  for (const std::size_t more : {0U, 1U}) {
    Talk bytes(1);
    ASSERT_TRUE(bytes.hear(begin));
    std::size_t left = Http2Client::kIdleBytesMax - begin.size() + more;
    const auto unknown = [&](std::size_t size) {
      return frame(static_cast<Http2FrameType>(0xBB), 0, 0, std::string(size - 9, 'x'));
    };
    for (; left > 1'000'000; left -= 500'000) ASSERT_TRUE(bytes.hear(unknown(500'000)));
    EXPECT_EQ(bytes.hear(unknown(left)), more == 0);
    EXPECT_EQ(bytes.client.error(),
              more == 0 ? "" : "HTTP/2: 16 MiB that bring nothing of a reply");
  }
}

TEST(Http2Client, its_first_frames_say_what_it_takes) {
  const Talk talk(0);
  EXPECT_EQ(talk.sent,
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
                settings(setting(kPush, 0) + setting(kInitialWindow, 0x7fffffff) +
                         setting(kFrameSize, 1 << 20) + setting(kHeadSize, 65'536)) +
                frame(Http2FrameType::window_update, 0, 0, big_endian(0x7fffffff - kFirstWindow)));
}

// It never repeats: in the tables of both ends it would only push others out.
TEST(Http2Client, a_requests_id_is_not_kept_in_the_tables) {
  const auto size_of_second = [](std::string_view name) {
    Talk talk(0);
    talk.replies.resize(2);
    std::size_t before = 0;
    for (TalkReply& reply : talk.replies) {
      before = talk.sent.size();
      const std::vector<Http2Client::Header> fields{{":method", "POST"},
                                                    {":scheme", "http"},
                                                    {":authority", "h"},
                                                    {":path", "/"},
                                                    {name, "0123456789abcdef"}};
      talk.client.submit(fields, "", &reply);
      talk.send();
    }
    return talk.sent.size() - before;
  };
  EXPECT_GT(size_of_second("x-request-id"), size_of_second("x-request-ie") + 8);
}

}  // namespace
}  // namespace assay::net
