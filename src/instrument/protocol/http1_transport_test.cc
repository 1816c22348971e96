// HTTP/1.1 behind the seam, without a socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "protocol/testing_transport.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Side = Transport::Side;
using Standing = Transport::Standing;

TEST(Http1Transport, it_gives_the_request_at_once_and_takes_no_second_one) {
  LoneTransport lone(make_http1_transport);
  EXPECT_EQ(lone.transport->standing(), Standing::open) << "no peer has to begin";
  EXPECT_EQ(lone.transport->capacity(), 1U);
  EXPECT_EQ(lone.transport->limit(), 1U);
  Slot& slot = lone.begin();
  EXPECT_THAT(lone.request, StartsWith("POST "));
  EXPECT_THAT(lone.request, HasSubstr("hello"));
  EXPECT_THAT(lone.lane.going_out, ElementsAre(&slot));
  EXPECT_EQ(lone.sent(), "");
  EXPECT_EQ(lone.transport->capacity(), 0U);
  EXPECT_FALSE(lone.transport->announces_end());
}

TEST(Http1Transport, a_reply_in_two_reads_ends_with_the_second_wherever_it_is_cut) {
  const std::string reply = plain_reply();
  for (std::size_t cut = 1; cut < reply.size(); ++cut) {
    SCOPED_TRACE(cut);
    LoneTransport lone(make_http1_transport);
    Slot& slot = lone.begin();
    lone.now = lone.now + 1_ms;
    const Instant first = lone.now;
    const Fed before = lone.feed(reply.substr(0, cut));
    EXPECT_TRUE(before.sound);
    EXPECT_FALSE(before.changed);
    EXPECT_THAT(lone.shared.ended, IsEmpty());
    lone.now = lone.now + 1_ms;
    const Fed after = lone.feed(reply.substr(cut));
    EXPECT_TRUE(after.sound);
    EXPECT_TRUE(after.changed);
    EXPECT_FALSE(after.output);
    EXPECT_THAT(lone.take_ended(), ElementsAre(&slot));
    ASSERT_EQ(lone.notes.done.size(), 1U);
    EXPECT_EQ(lone.notes.done[0].outcome, Outcome::ok);
    EXPECT_EQ(lone.notes.done[0].first_byte, first);
    EXPECT_EQ(lone.notes.done[0].done, lone.now);
    EXPECT_EQ(lone.transport->standing(), Standing::open);
    EXPECT_EQ(lone.transport->capacity(), 1U);
  }
}

TEST(Http1Transport, it_takes_no_query_after_a_reply_that_leaves_the_connection_in_doubt) {
  struct Case {
    std::string reply{};
    std::size_t rest = 0;
    bool blocked = false;
    Outcome outcome = Outcome::ok;
  };
  const Case cases[] = {
      {plain_reply("Connection: close\r\n")},
      {plain_reply() + "more"},
      {plain_reply(), 1},
      {plain_reply(), 0, true},  // it came before the whole request was sent
      {"no HTTP at all\r\n\r\n", 0, false, Outcome::bad_reply},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.reply);
    LoneTransport lone(make_http1_transport);
    lone.begin();
    lone.lane.blocked = one.blocked;
    EXPECT_TRUE(lone.feed(one.reply, one.rest).changed);
    EXPECT_EQ(lone.take_ended().size(), 1U);
    ASSERT_EQ(lone.notes.done.size(), 1U);
    EXPECT_EQ(lone.notes.done[0].outcome, one.outcome);
    EXPECT_EQ(lone.transport->standing(), Standing::leaving);
    EXPECT_EQ(lone.transport->capacity(), 0U);
  }
}

TEST(Http1Transport, bytes_without_a_query_and_a_query_given_up_cost_the_connection) {
  LoneTransport lone(make_http1_transport);
  EXPECT_FALSE(lone.feed(plain_reply()).sound);
  EXPECT_THAT(lone.notes.done, IsEmpty());
  LoneTransport other(make_http1_transport);
  EXPECT_FALSE(other.transport->cancel(other.begin()));
}

TEST(Http1Transport, the_end_of_the_connection_may_be_the_end_of_the_reply) {
  struct Case {
    std::string reply{};
    int error = 0;
    bool complete = false;
    Outcome outcome = Outcome::truncated;
    std::string why{};
  };
  const std::string until_close = "HTTP/1.1 200 OK\r\n\r\n{}";
  const Case cases[] = {
      {"", 0, false, Outcome::truncated, "the connection was closed before a reply"},
      {"HTTP/1.1 200", 0, false, Outcome::truncated,
       "the connection was closed inside the response head"},
      {until_close, 0, true},
      {until_close, ECONNRESET, false, Outcome::reset, "Connection reset by peer"},
      {"", ETIMEDOUT, false, Outcome::timed_out, "Connection timed out"},
  };
  for (const Case& one : cases) {
    for (const Side side : {Side::reading, Side::sending}) {
      SCOPED_TRACE(one.reply + one.why);
      LoneTransport lone(make_http1_transport);
      lone.begin();
      if (!one.reply.empty()) {
        EXPECT_FALSE(lone.feed(one.reply).changed);
      }
      const Ending ending = lone.transport->ending(side, one.error);
      EXPECT_EQ(ending.complete, one.complete);
      if (one.complete) continue;
      EXPECT_EQ(ending.outcome, one.outcome);
      EXPECT_EQ(ending.why, one.why);
    }
  }
}

TEST(Http1Transport, a_reply_from_before_its_request_is_no_reply) {
  LoneTransport lone(make_http1_transport);
  const Instant begun = lone.now;
  lone.begin();
  lone.now = begun - 100_s;  // far beyond the error of the stamps' clock
  EXPECT_TRUE(lone.feed(plain_reply()).changed);
  ASSERT_EQ(lone.notes.done.size(), 1U);
  EXPECT_EQ(lone.notes.done[0].outcome, Outcome::bad_reply);
  EXPECT_EQ(lone.notes.details[0], "the reply came before the request was sent");
  EXPECT_EQ(lone.transport->standing(), Standing::leaving);
}

TEST(Http1Transport, a_reply_whose_outcome_is_known_gets_a_deadline_for_its_end_once) {
  LoneTransport lone(make_http1_transport);
  Slot& slot = lone.begin();
  lone.feed(stream_head() + word_chunk("a"));
  EXPECT_TRUE(lone.shared.framing_deadlines.empty());
  lone.feed(stop_chunk() + stream_chunk("[DONE]"));
  ASSERT_EQ(lone.shared.framing_deadlines.size(), 1U);
  EXPECT_EQ(lone.shared.framing_deadlines[0].slot, &slot);
  EXPECT_EQ(lone.shared.framing_deadlines[0].at, lone.now + 250_ms);
  lone.feed("0");
  EXPECT_EQ(lone.shared.framing_deadlines.size(), 1U);
  LoneTransport failing(make_http1_transport);
  failing.begin();
  failing.feed("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nab");
  ASSERT_EQ(failing.shared.failed_deadlines.size(), 1U);
  EXPECT_EQ(failing.shared.failed_deadlines[0].at, failing.now + 1_s);
}

}  // namespace
}  // namespace assay::protocol
