// What the transports over HTTP/1.1 tell the pool, without a socket.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/testing_transport.h"

namespace assay::protocol {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(TransportsAlone, one_query_at_a_time_and_none_that_is_given_up_leaves_the_connection) {
  for (const LoneTransport::Make make : {make_http1_transport, make_job_transport}) {
    LoneTransport lone(make);
    EXPECT_EQ(lone.transport->capacity(), 1U);
    EXPECT_EQ(lone.transport->limit(), 1U);
    EXPECT_FALSE(lone.transport->announces_end());
    EXPECT_EQ(lone.transport->refusal("3 s"), "no connection within 3 s");
    Slot& slot = lone.begin();
    EXPECT_TRUE(slot.out);
    EXPECT_THAT(lone.lane.going_out, ElementsAre(&slot));
    EXPECT_EQ(lone.transport->capacity(), 0U);
    EXPECT_FALSE(lone.transport->cancel(slot));
  }
}

TEST(TransportsAlone, bytes_that_nobody_asked_for_end_the_connection) {
  for (const LoneTransport::Make make : {make_http1_transport, make_job_transport}) {
    LoneTransport lone(make);
    const Fed fed = lone.feed(plain_reply());
    EXPECT_FALSE(fed.sound);
    EXPECT_TRUE(fed.changed);
    EXPECT_FALSE(fed.output);
    EXPECT_TRUE(lone.shared.ended.empty());
  }
}

// Stamps are a little wrong; a reply within their error counts from its request.
TEST(TransportsAlone, a_reply_that_came_a_moment_before_its_request_came_with_it) {
  LoneTransport lone(make_http1_transport);
  const Instant begun = lone.now;
  lone.begin();
  const Duration error = lone.shared.stamp_clock.error_max();
  ASSERT_GT(error, Duration{});
  lone.now = begun - error;
  lone.feed(plain_reply());
  ASSERT_EQ(lone.notes.done.size(), 1U);
  EXPECT_EQ(lone.notes.done[0].outcome, Outcome::ok);
  EXPECT_EQ(lone.notes.done[0].first_byte, begun);
  EXPECT_EQ(lone.notes.done[0].done, begun);
}

std::string state_of_job(std::string_view status, std::string_view fields = "") {
  const std::string body = format(R"({{"id":"j","status":"{}"}})", status);
  return format("HTTP/1.1 200 OK\r\n{}Content-Length: {}\r\n\r\n{}", fields, body.size(), body);
}

// A job that is completed at its first answer, and whose fetch went out.
Slot& fetching(LoneTransport& lone) {
  Slot& slot = lone.begin();
  EXPECT_FALSE(lone.feed(state_of_job("completed")).changed);
  EXPECT_EQ(lone.shared.paced.size(), 1U);
  lone.transport->go_on(slot, lone.now);
  EXPECT_THAT(lone.sent(), HasSubstr("/j/content HTTP/1.1\r\n"));
  return slot;
}

TEST(TransportsAlone, a_job_keeps_its_connection_where_the_fetched_reply_leaves_no_doubt) {
  struct Case {
    std::string reply{};
    std::size_t rest = 0;
    bool blocked = false;
    bool kept = false;
    Outcome outcome = Outcome::ok;
  };
  const Case cases[] = {
      {plain_reply(), 0, false, true},
      {plain_reply("Connection: close\r\n")},
      {plain_reply() + "more"},
      {plain_reply(), 1},
      {plain_reply(), 2},
      {plain_reply(), 0, true},
      {"no HTTP at all\r\n\r\n", 0, false, false, Outcome::bad_reply},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.reply);
    LoneTransport lone(make_job_transport);
    Slot& slot = fetching(lone);
    lone.lane.blocked = one.blocked;
    const Fed fed = lone.feed(one.reply, one.rest);
    EXPECT_TRUE(fed.sound);
    EXPECT_TRUE(fed.changed);
    EXPECT_THAT(lone.take_ended(), ElementsAre(&slot));
    ASSERT_EQ(lone.notes.done.size(), 1U);
    EXPECT_EQ(lone.notes.done[0].outcome, one.outcome) << lone.notes.details[0];
    EXPECT_EQ(lone.transport->capacity(), one.kept ? 1U : 0U);
    EXPECT_EQ(lone.transport->standing(),
              one.kept ? Transport::Standing::open : Transport::Standing::leaving);
  }
}

// Else it goes on on another one, and does not end.
TEST(TransportsAlone, a_job_stays_on_its_connection_where_an_answer_leaves_no_doubt) {
  struct Case {
    std::string reply{};
    std::size_t rest = 0;
    bool blocked = false;
    bool kept = false;
  };
  const std::string queued = state_of_job("queued");
  const Case cases[] = {{queued, 0, false, true},
                        {state_of_job("queued", "Connection: close\r\n")},
                        {queued + "more"},
                        {queued, 1},
                        {queued, 2},
                        {queued, 0, true}};
  for (const Case& one : cases) {
    SCOPED_TRACE(one.reply);
    LoneTransport lone(make_job_transport);
    Slot& slot = lone.begin();
    lone.lane.blocked = one.blocked;
    const Fed fed = lone.feed(one.reply, one.rest);
    EXPECT_TRUE(fed.sound);
    EXPECT_EQ(fed.changed, !one.kept);
    EXPECT_EQ(lone.shared.paced.size(), one.kept ? 1U : 0U);
    EXPECT_EQ(slot.again, !one.kept);
    EXPECT_EQ(lone.take_ended().size(), one.kept ? 0U : 1U);
    EXPECT_TRUE(lone.notes.done.empty());
    EXPECT_EQ(lone.transport->standing(),
              one.kept ? Transport::Standing::open : Transport::Standing::leaving);
  }
}

TEST(TransportsAlone, a_look_has_the_fields_of_its_post_that_say_nothing_of_the_body) {
  LoneTransport lone(make_job_transport);
  Slot& slot = lone.begin();
  const std::string post = lone.request;
  lone.feed(state_of_job("queued"));
  lone.transport->go_on(slot, lone.now);
  const std::string look = lone.sent();
  EXPECT_THAT(look, StartsWith("GET /v1/chat/completions/j HTTP/1.1\r\nHost: 127.0.0.1:1\r\n"));
  EXPECT_THAT(look, HasSubstr("\r\nAccept: */*\r\n"));
  EXPECT_TRUE(look.ends_with("\r\n\r\n"));
  EXPECT_EQ(look.find("\r\n\r\n"), look.size() - 4);
  EXPECT_THAT(look, Not(HasSubstr("Content-")));
  EXPECT_EQ(look.find("Accept:"), look.rfind("Accept:"));
  std::string expected;
  for (std::size_t at = 0, end = 0; post.compare(at, 2, "\r\n") != 0; at = end) {
    end = post.find("\r\n", at) + 2;
    const std::string line = post.substr(at, end - at);
    if (at == 0) {
      expected += "GET /v1/chat/completions/j HTTP/1.1\r\n";
    } else if (!line.starts_with("Content-") && !line.starts_with("Accept:")) {
      expected += line;
    }
  }
  EXPECT_EQ(look, expected + "Accept: */*\r\n\r\n");
}

// The next look counts from the answer, and what is completed is fetched at once.
TEST(TransportsAlone, a_job_is_looked_at_after_the_interval_and_fetched_after_none) {
  for (const bool completed : {false, true}) {
    LoneTransport lone(make_job_transport);
    lone.shared.poll_interval = 2_s;
    lone.begin();
    lone.now = lone.now + 7_ms;
    lone.feed(state_of_job(completed ? "completed" : "queued"));
    ASSERT_EQ(lone.shared.paced.size(), 1U);
    EXPECT_EQ(lone.shared.paced[0].at, lone.now + (completed ? 0_s : 2_s));
  }
}

TEST(TransportsAlone, the_bytes_of_every_answer_of_a_job_are_counted) {
  LoneTransport lone(make_job_transport);
  fetching(lone);
  lone.feed(plain_reply());
  ASSERT_EQ(lone.notes.done.size(), 1U);
  EXPECT_EQ(lone.notes.done[0].received_bytes,
            state_of_job("completed").size() + plain_reply().size());
}

}  // namespace
}  // namespace assay::protocol
