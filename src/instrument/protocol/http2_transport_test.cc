// HTTP/2 behind the seam, without a socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "net/testing_http2.h"
#include "protocol/testing_transport.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Side = Transport::Side;
using Standing = Transport::Standing;

constexpr std::uint32_t kRefused = 7;  // REFUSED_STREAM

std::string allowing(std::uint32_t streams) {
  return net::settings(net::setting(net::kConcurrentStreams, streams));
}
std::string whole_answer(std::uint32_t stream) {
  return net::head(stream) +
         net::data(stream,
                   R"({"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}]})",
                   net::kEndStream);
}

TEST(Http2Transport, it_is_open_when_the_servers_settings_allow_a_stream) {
  LoneTransport lone(make_http2_transport);
  EXPECT_EQ(lone.transport->standing(), Standing::beginning);
  EXPECT_THAT(lone.sent(), StartsWith("PRI * HTTP/2.0"));
  EXPECT_THAT(lone.transport->refusal("3 s"), HasSubstr("did not begin HTTP/2 within 3 s"));
  EXPECT_TRUE(lone.feed(allowing(0)).sound);
  EXPECT_EQ(lone.transport->standing(), Standing::beginning);
  EXPECT_EQ(lone.transport->limit(), 0U);
  EXPECT_THAT(lone.transport->refusal("3 s"), HasSubstr("allowed no HTTP/2 stream within 3 s"));
  EXPECT_TRUE(lone.feed(allowing(1000)).sound);
  EXPECT_EQ(lone.transport->standing(), Standing::open);
  EXPECT_EQ(lone.transport->limit(), kStreamsMax) << "our own limit";
  EXPECT_EQ(lone.transport->capacity(), kStreamsMax);
  EXPECT_TRUE(lone.transport->announces_end());
}

TEST(Http2Transport, each_query_takes_one_of_the_streams_that_the_server_allows) {
  LoneTransport lone(make_http2_transport);
  lone.feed(allowing(2));
  EXPECT_EQ(lone.transport->capacity(), 2U);
  lone.begin();
  EXPECT_EQ(lone.transport->capacity(), 1U);
  lone.begin();
  EXPECT_EQ(lone.transport->capacity(), 0U);
  lone.feed(allowing(0));
  EXPECT_EQ(lone.transport->limit(), 0U);
  EXPECT_EQ(lone.transport->capacity(), 0U) << "fewer than are under way";
  EXPECT_EQ(lone.transport->standing(), Standing::open);
}

// The kernel's stamp is that of the read's last byte.
TEST(Http2Transport, an_end_with_another_streams_bytes_behind_it_came_at_some_time_before) {
  LoneTransport lone(make_http2_transport);
  lone.feed(allowing(2));
  lone.begin();
  lone.begin();
  lone.sent();
  const Stamp at{.arrival = lone.now + 5_ms,
                 .read = lone.now + 5_ms,
                 .kernel = true,
                 .not_before = lone.now + 2_ms};
  lone.feed(whole_answer(1) + net::head(3), 0, at);
  ASSERT_EQ(lone.notes.done.size(), 1U);
  EXPECT_EQ(lone.notes.done[0].done_uncertainty, 3_ms);
  lone.feed(net::data(3, R"({"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]})",
                      net::kEndStream),
            0, at);
  ASSERT_EQ(lone.notes.done.size(), 2U);
  EXPECT_EQ(lone.notes.done[1].done_uncertainty, Duration{});
}

TEST(Http2Transport, requests_wait_in_the_output_to_go_out_together) {
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  Slot& first = lone.begin();
  EXPECT_EQ(lone.request, "");
  Slot& second = lone.begin();
  EXPECT_THAT(lone.lane.going_out, IsEmpty());
  EXPECT_FALSE(first.out);
  const std::string bytes = lone.sent();
  EXPECT_THAT(bytes, HasSubstr("hello"));
  EXPECT_NE(bytes.find("hello"), bytes.rfind("hello")) << "both bodies";
  EXPECT_THAT(lone.lane.going_out, ElementsAre(&first, &second));
  EXPECT_TRUE(first.out && second.out);
}

TEST(Http2Transport, replies_of_one_read_end_their_own_queries_with_that_reads_stamp) {
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  Slot& first = lone.begin();
  Slot& second = lone.begin();
  Slot& third = lone.begin();
  lone.sent();
  lone.now = lone.now + 7_ms;
  const Fed fed = lone.feed(whole_answer(5) + whole_answer(1));
  EXPECT_TRUE(fed.sound && fed.changed && fed.output);
  EXPECT_THAT(lone.shared.ended, ElementsAre(&third, &first));
  ASSERT_EQ(lone.notes.done.size(), 2U);
  EXPECT_EQ(lone.notes.done[0].query.index, 2U);
  EXPECT_EQ(lone.notes.done[1].query.index, 0U);
  for (const Event& event : lone.notes.done) {
    EXPECT_EQ(event.outcome, Outcome::ok);
    EXPECT_EQ(event.done, lone.now);
  }
  lone.take_ended();
  EXPECT_THAT(lone.lane.active, ElementsAre(&second));
  EXPECT_EQ(lone.transport->capacity(), kStreamsMax - 1);
}

TEST(Http2Transport, bytes_give_the_same_ends_however_they_are_cut) {
  const std::string bytes = whole_answer(1) + net::reset(3, 2) + whole_answer(5);
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    SCOPED_TRACE(cut);
    LoneTransport lone(make_http2_transport);
    lone.feed(net::settings());
    for (int i = 0; i < 3; ++i) lone.begin();
    lone.sent();
    EXPECT_TRUE(lone.feed(bytes.substr(0, cut)).sound);
    EXPECT_TRUE(lone.feed(bytes.substr(cut)).sound);
    EXPECT_EQ(lone.take_ended().size(), 3U);
    ASSERT_EQ(lone.notes.done.size(), 3U);
    EXPECT_EQ(lone.notes.done[0].outcome, Outcome::ok);
    EXPECT_EQ(lone.notes.done[1].outcome, Outcome::reset);
    EXPECT_THAT(lone.notes.details[1], StartsWith("HTTP/2 stream reset: "));
    EXPECT_EQ(lone.notes.done[2].outcome, Outcome::ok);
    EXPECT_EQ(lone.transport->standing(), Standing::open);
  }
}

TEST(Http2Transport, a_query_given_up_costs_its_stream_and_nothing_more_is_reported_of_it) {
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  Slot& slot = lone.begin();
  lone.sent();
  EXPECT_TRUE(lone.transport->cancel(slot));
  lone.lane.remove(&slot);
  EXPECT_FALSE(lone.sent().empty()) << "RST_STREAM";
  EXPECT_TRUE(lone.feed(whole_answer(1)).sound) << "the server sent it before it knew";
  EXPECT_THAT(lone.shared.ended, IsEmpty());
  EXPECT_THAT(lone.notes.done, IsEmpty());
  EXPECT_EQ(lone.transport->standing(), Standing::open);
}

TEST(Http2Transport, an_error_page_without_end_costs_its_stream_as_soon_as_enough_is_read) {
  constexpr std::uint32_t kCancel = 8;
  const std::string status_500 = "\x8e";
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  Slot& slot = lone.begin();
  lone.sent();
  lone.feed(net::head(1, status_500));
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(lone.shared.ended, IsEmpty()) << i;
    EXPECT_TRUE(lone.feed(net::data(1, std::string(16 * 1024, 'x'))).sound);
  }
  EXPECT_THAT(lone.sent(), HasSubstr(net::reset(1, kCancel)));
  EXPECT_THAT(lone.take_ended(), ElementsAre(&slot));
  ASSERT_EQ(lone.notes.done.size(), 1U);
  EXPECT_EQ(lone.notes.done[0].outcome, Outcome::http_error);
  EXPECT_EQ(lone.notes.done[0].http_status, 500);
}

TEST(Http2Transport, a_refused_query_goes_again_and_the_server_gets_no_more_than_it_kept) {
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  lone.begin();
  Slot& refused = lone.begin();
  lone.sent();
  lone.feed(net::reset(3, kRefused));
  EXPECT_THAT(lone.take_ended(), ElementsAre(&refused));
  EXPECT_TRUE(refused.again);
  EXPECT_THAT(lone.notes.done, IsEmpty());
  lone.transport->unprocessed(refused);
  EXPECT_EQ(refused.unprocessed, 1U);
  EXPECT_EQ(lone.transport->capacity(), 0U) << "one is under way, and that is what it took";
}

TEST(Http2Transport, a_query_that_was_left_too_often_fails) {
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  Slot& slot = lone.begin();
  slot.unprocessed = kUnprocessedMax;
  lone.sent();
  lone.feed(net::reset(1, kRefused));
  EXPECT_FALSE(slot.again);
  ASSERT_EQ(lone.notes.done.size(), 1U);
  EXPECT_EQ(lone.notes.done[0].outcome, Outcome::reset);
  EXPECT_THAT(lone.notes.details[0], HasSubstr("again and again"));
}

TEST(Http2Transport, what_a_leaving_server_left_counts_unless_it_answered_another) {
  for (const bool answered : {false, true}) {
    SCOPED_TRACE(answered);
    LoneTransport lone(make_http2_transport);
    lone.feed(net::settings());
    Slot& first = lone.begin();
    Slot& second = lone.begin();
    lone.sent();
    lone.feed((answered ? net::head(1) : "") + net::goaway(1, 0));
    EXPECT_EQ(lone.transport->standing(), Standing::leaving);
    EXPECT_EQ(lone.transport->capacity(), 0U);
    EXPECT_THAT(lone.take_ended(), ElementsAre(&second));
    EXPECT_TRUE(second.again);
    lone.transport->unprocessed(second);
    EXPECT_EQ(second.unprocessed, answered ? 0U : 1U);
    EXPECT_THAT(lone.lane.active, ElementsAre(&first)) << "may still be answered";
  }
}

TEST(Http2Transport, a_server_that_breaks_the_protocol_ends_it_in_the_protocols_words) {
  LoneTransport lone(make_http2_transport);
  lone.feed(net::settings());
  lone.begin();
  lone.sent();
  EXPECT_FALSE(lone.feed(net::frame(net::Http2FrameType::push_promise, net::kEndHeaders, 1,
                                    net::big_endian(2) + net::kStatus200))
                   .sound);
  const Ending ending = lone.transport->ending(Side::sending, 0);
  EXPECT_EQ(ending.outcome, Outcome::bad_reply);
  EXPECT_THAT(ending.why, StartsWith("HTTP/2: PROTOCOL_ERROR"));
}

TEST(Http2Transport, its_end_says_whether_a_query_was_ever_begun) {
  LoneTransport fresh(make_http2_transport);
  EXPECT_EQ(fresh.transport->ending(Side::reading, 0).why,
            "the server closed the connection before it began HTTP/2");
  fresh.feed(net::settings() + net::goaway(0, 0));
  EXPECT_GE(fresh.transport->standing(), Standing::leaving);
  EXPECT_EQ(fresh.transport->ending(Side::sending, 0).why,
            "the server said GOAWAY before a request");

  LoneTransport used(make_http2_transport);
  used.feed(net::settings());
  used.begin();
  used.sent();
  const auto end = [&](Side side, int error) { return used.transport->ending(side, error); };
  EXPECT_EQ(end(Side::reading, 0).outcome, Outcome::truncated);
  EXPECT_EQ(end(Side::reading, 0).why, "the connection was closed");
  EXPECT_EQ(end(Side::reading, ECONNRESET).outcome, Outcome::reset);
  EXPECT_EQ(end(Side::reading, ECONNRESET).why, "Connection reset by peer");
  EXPECT_EQ(end(Side::sending, ETIMEDOUT).outcome, Outcome::timed_out);
  EXPECT_EQ(end(Side::sending, ETIMEDOUT).why, "cannot send: Connection timed out");
  used.feed(net::goaway(1, 0));
  EXPECT_EQ(end(Side::sending, 0).why, "the server said GOAWAY");
}

}  // namespace
}  // namespace assay::protocol
