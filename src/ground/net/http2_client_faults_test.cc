// What a client of HTTP/2 tells of faults, and what it counts and keeps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/http2_client.h"
#include "net/testing_http2_client.h"
#include "net/testing_memory.h"

namespace assay::net {
namespace {

TEST(Http2ClientFaults, faults_of_replies_that_are_read_at_once_have_their_own_words) {
  const std::string short_body =
      head(1, kStatus200 + literal("content-length", "5")) + data(1, "abc", kEndStream);
  const std::string two_statuses = head(3, kStatus200 + kStatus200);
  const std::string capitals = head(5, kStatus200 + literal("Upper", "1"));
  const std::string no_status = head(7, literal("server", "x"));
  const std::string field = "PROTOCOL_ERROR: Invalid HTTP header field was received: ";
  Talk talk(4);
  ASSERT_TRUE(talk.hear(settings() + short_body + two_statuses + capitals + no_status));
  std::vector<std::string> told;
  for (const TalkReply& reply : talk.replies) told.push_back(reply.broken);
  EXPECT_THAT(
      told, testing::ElementsAre("PROTOCOL_ERROR",
                                 field + "frame type: 1, stream: 3, name: [:status], value: [200]",
                                 field + "frame type: 1, stream: 5, name: [Upper], value: [1]",
                                 "PROTOCOL_ERROR: Violation in HTTP messaging rule"));
}

TEST(Http2ClientFaults, a_status_below_100_is_a_fault_of_its_stream_alone) {
  Talk talk(3);
  ASSERT_TRUE(talk.hear(settings() + head(1, literal(":status", "000")) + data(1, "a", kEndStream) +
                        head(3, literal(":status", "099"), kEndHeaders | kEndStream) +
                        head(5, literal(":status", "100")) + head(5, kStatus200) +
                        data(5, "b", kEndStream)));
  EXPECT_EQ(talk.replies[0].broken, "PROTOCOL_ERROR: the status 000 is none of HTTP");
  EXPECT_EQ(talk.replies[0].body, "");
  EXPECT_EQ(talk.replies[1].broken, "PROTOCOL_ERROR: the status 099 is none of HTTP");
  EXPECT_EQ(talk.replies[2].status, 200);
  EXPECT_EQ(talk.replies[2].body, "b");
}

TEST(Http2ClientFaults, the_words_of_a_fault_are_shown_short) {
  Talk talk(1);
  ASSERT_TRUE(
      talk.hear(settings() + head(1, kStatus200 + literal("Upper", std::string(300, 'v')))));
  const std::string words = talk.replies[0].broken;
  EXPECT_EQ(words.size(), std::string_view("PROTOCOL_ERROR: ").size() + 200);
  EXPECT_THAT(words, testing::EndsWith("vv"));
}

TEST(Http2ClientFaults, what_ends_the_connection_is_told_with_its_reason) {
  const auto error_after = [](std::string_view bytes) {
    Talk talk(1);
    EXPECT_TRUE(talk.hear(settings()));
    EXPECT_EQ(talk.client.error(), "");
    EXPECT_FALSE(talk.client.broken());
    EXPECT_FALSE(talk.hear(bytes));
    EXPECT_TRUE(talk.client.broken());
    return talk.client.error();
  };
  EXPECT_EQ(error_after(data(99, "x")), "HTTP/2: PROTOCOL_ERROR: DATA: stream in idle");
  EXPECT_EQ(
      error_after(frame(Http2FrameType::push_promise, kEndHeaders, 1, big_endian(2) + kStatus200)),
      "HTTP/2: PROTOCOL_ERROR: PUSH_PROMISE, though server push is switched off");
  // So many that the answers to them have no room.
  std::string pings;
  for (int i = 0; i < 2000; ++i) pings += kPing;
  EXPECT_EQ(error_after(pings),
            "HTTP/2: Flooding was detected in this HTTP/2 session, and it must be closed");
  EXPECT_EQ(
      error_after(
          head(1,
               kStatus200 + literal("x", std::string(10'000, 'a')) +
                   literal("x", std::string(6'000, 'b')),
               0) +
          frame(Http2FrameType::continuation, 0, 1, literal("x", std::string(16'000, 'c'))) +
          frame(Http2FrameType::continuation, 0, 1, literal("x", std::string(16'000, 'd'))) +
          frame(Http2FrameType::continuation, kEndHeaders, 1,
                literal("x", std::string(16'300, 'e')) + literal("y", std::string(2'000, 'f')))),
      "HTTP/2: a response head of more than 64 KiB");
}

TEST(Http2ClientFaults, a_connection_has_begun_with_the_peers_settings) {
  Talk talk(0);
  talk.hear(settings().substr(0, 8));
  EXPECT_FALSE(talk.client.begun());
  talk.hear(settings().substr(8));
  EXPECT_TRUE(talk.client.begun());
}

TEST(Http2ClientFaults, frames_are_counted_from_the_first_one_on_and_anew_from_each_head) {
  const auto hear_pings = [](Talk& talk, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) ASSERT_TRUE(talk.hear(kPing)) << i;
  };
  Talk silent(0);
  ASSERT_TRUE(silent.hear(settings()));
  hear_pings(silent, Http2Client::kIdleFramesMax - 1);
  EXPECT_FALSE(silent.hear(kPing));

  Talk talk(1);
  ASSERT_TRUE(talk.hear(settings()));
  hear_pings(talk, Http2Client::kIdleFramesMax - 2);
  ASSERT_TRUE(talk.hear(head(1)));
  hear_pings(talk, Http2Client::kIdleFramesMax);
  EXPECT_FALSE(talk.hear(kPing));
}

TEST(Http2ClientFaults, bytes_are_counted_from_the_first_one_on) {
  for (const std::size_t more : {0U, 1U}) {
    Talk talk(0);
    std::size_t left = Http2Client::kIdleBytesMax + more - settings().size() - kAcknowledged.size();
    ASSERT_TRUE(talk.hear(settings() + kAcknowledged));
    const auto unknown = [](std::size_t size) {
      return frame(static_cast<Http2FrameType>(0xBB), 0, 0, std::string(size - 9, 'x'));
    };
    for (; left > 1'000'000; left -= 500'000) ASSERT_TRUE(talk.hear(unknown(500'000)));
    EXPECT_EQ(talk.hear(unknown(left)), more == 0);
  }
}

TEST(Http2ClientFaults, what_comes_for_a_forgotten_stream_before_its_reset_is_out_is_dropped) {
  Talk talk(2);
  ASSERT_TRUE(talk.hear(settings() + head(1)));
  talk.sent.clear();
  talk.client.forget(talk.streams[0]);
  EXPECT_TRUE(talk.client.feed(data(1, "late") + head(3)));
  talk.send();
  EXPECT_EQ(talk.sent, reset(1, 8));
  EXPECT_EQ(talk.replies[0].body, "");
  EXPECT_EQ(talk.replies[0].ended, 0);
  EXPECT_FALSE(talk.client.broken());
  EXPECT_EQ(talk.client.error(), "");
  EXPECT_TRUE(talk.hear(data(3, "whole", kEndStream)));
  EXPECT_EQ(talk.replies[1].body, "whole");
}

TEST(Http2ClientFaults, a_head_that_comes_for_a_forgotten_stream_is_told_to_nobody) {
  Talk talk(1);
  ASSERT_TRUE(talk.hear(settings()));
  talk.client.forget(talk.streams[0]);
  EXPECT_TRUE(talk.client.feed(head(1)));
  EXPECT_EQ(talk.replies[0].heads, 0);
}

TEST(Http2ClientFaults, a_client_that_ends_gives_back_all_its_memory) {
  const std::string bytes = settings() + head(1) + data(1, "x") +
                            head(3, kStatus200 + literal("x", std::string(500, 'x')), kEndHeaders) +
                            data(3, "y", kEndStream);
  EXPECT_LT(bytes_kept_by(100, [&] { Talk(2, std::string(70'000, 'b')).hear(bytes); }), 1000);
}

TEST(Http2ClientFaults, what_was_read_is_not_kept) {
  Talk talk(1);
  ASSERT_TRUE(talk.hear(settings() + head(1)));
  const std::string piece = data(1, std::string(100, 'x'));
  talk.replies[0].body.reserve(100'000);
  talk.replies[0].behind.reserve(1000);
  EXPECT_LT(bytes_kept_by(100, [&] { talk.hear(piece); }), 1000);
}

}  // namespace
}  // namespace assay::net
