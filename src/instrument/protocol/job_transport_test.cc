// Jobs, played by hand: what is sent when, where a job goes on, and what its latency holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "protocol/testing_by_hand.h"
#include "protocol/transport.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string job_answer(std::string_view status, std::string_view fields = "") {
  const std::string body = format(R"({{"id":"v:1","object":"video","status":"{}"}})", status);
  return format(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{}Content-Length: {}\r\n\r\n{}", fields,
      body.size(), body);
}

std::string job_content(std::string_view bytes) {
  return format("HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\nContent-Length: {}\r\n\r\n{}",
                bytes.size(), bytes);
}

class Jobs : public testing::Test {
 protected:
  Jobs() {
    hand.endpoints.api = Api::openai_videos;
    hand.endpoints.api_key = "k";
    hand.endpoints.urls[0] += "/v1?v=2";
    hand.datasets[0].generation.stream = false;
  }
  // The next GET on that connection, without its body.
  std::string look(PlayedPeer& peer) {
    std::string out;
    EXPECT_TRUE(hand.until([&] {
      peer.hear();
      return peer.heard.find("\r\n\r\n") != std::string::npos;
    }));
    out.swap(peer.heard);
    return out;
  }
  // A job whose POST is answered on a connection of its own.
  PlayedPeer begun(std::string_view answer) {
    hand.submit(static_cast<std::uint32_t>(hand.notes.sent.size()));
    PlayedPeer peer = hand.accept();
    post = hand.request(peer);
    peer.say(answer);
    hand.turn();
    return peer;
  }
  const Event& event() const { return hand.notes.done.back(); }

  ByHand hand{};
  std::string post{};
};

TEST_F(Jobs, a_job_is_begun_looked_at_and_fetched_and_its_latency_says_what_no_look_could_see) {
  const Instant start = hand.clock.now();
  PlayedPeer peer = begun(job_answer("queued"));
  EXPECT_THAT(post, StartsWith("POST /v1/videos?v=2 HTTP/1.1\r\n"));
  EXPECT_THAT(post, HasSubstr("Content-Type: multipart/form-data; boundary="));
  EXPECT_THAT(post, HasSubstr("name=\"prompt\"\r\n\r\nhello\r\n"));
  hand.pass(999_ms);
  hand.turn();
  peer.hear();
  EXPECT_EQ(peer.heard, "");
  hand.pass(1_ms);
  const std::string first = look(peer);
  EXPECT_THAT(first, StartsWith("GET /v1/videos/v:1?v=2 HTTP/1.1\r\nHost: 127.0.0.1"));
  EXPECT_THAT(first, HasSubstr("\r\nAuthorization: Bearer k\r\n"));
  EXPECT_THAT(first, testing::Not(HasSubstr("Content-")));
  hand.pass(3_ms);
  peer.say(job_answer("in_progress"));
  hand.turn();
  hand.pass(1_s);
  look(peer);
  hand.pass(2_ms);
  peer.say(job_answer("completed"));
  EXPECT_THAT(look(peer), StartsWith("GET /v1/videos/v:1/content?v=2 HTTP/1.1\r\n"));
  hand.pass(4_ms);
  peer.say(job_content(std::string("data: no event\n\n\0", 17)));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(event().sent, start);
  EXPECT_EQ(event().done, start + 2009_ms);
  // It was running when the first look went out, at 1,000 ms, and completed at 2,005 ms; the last
  // byte came within 4 ms.
  EXPECT_EQ(event().done_uncertainty, 1005_ms + 4_ms);
  EXPECT_FALSE(event().streamed);
  EXPECT_TRUE(hand.notes.text.empty());
  EXPECT_EQ(hand.stats().connections_opened, 1U);
}

// A page of a gateway, say, where the state of a job belongs.
TEST_F(Jobs, an_answer_that_is_no_state_of_a_job_is_no_video) {
  for (const char* const words : {"<html>sign in</html>", "queued", "[1]"}) {
    const std::string answer =
        format("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}",
               std::string_view(words).size(), words);
    PlayedPeer peer = begun(answer);
    ASSERT_TRUE(hand.until([&] { return hand.notes.done.size() == hand.notes.sent.size(); }));
    EXPECT_EQ(event().outcome, Outcome::bad_reply) << words;
    EXPECT_EQ(hand.notes.details.back(), format("no state of a job: {}", words));
    PlayedPeer looked = begun(job_answer("queued"));
    hand.pass(1_s);
    look(looked);
    looked.say(answer);
    ASSERT_TRUE(hand.until([&] { return hand.notes.done.size() == hand.notes.sent.size(); }));
    EXPECT_EQ(event().outcome, Outcome::bad_reply) << words;
  }
}

TEST_F(Jobs, an_answer_without_a_body_is_an_empty_reply) {
  const PlayedPeer peer = begun("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::truncated);
  EXPECT_EQ(hand.notes.details[0], "the reply is empty");
}

TEST_F(Jobs, a_query_may_end_where_its_job_is_completed) {
  hand.endpoints.fetch_artefacts = false;
  hand.endpoints.poll_interval = 50_ms;
  const Instant start = hand.clock.now();
  PlayedPeer peer = begun(job_answer("in_progress"));
  hand.pass(50_ms);
  look(peer);
  peer.say(job_answer("completed"));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(event().done, start + 50_ms);
  EXPECT_EQ(event().done_uncertainty, 50_ms);
  // The next job is begun on the same connection, with a state of its own.
  hand.submit(1);
  EXPECT_THAT(hand.request(peer), StartsWith("POST /v1/videos?v=2 HTTP/1.1\r\n"));
  peer.say(job_answer("completed"));
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(event().outcome, Outcome::ok) << hand.notes.details[1];
  EXPECT_EQ(hand.stats().connections_opened, 1U);
}

TEST_F(Jobs, a_job_goes_on_on_another_connection_when_its_own_ends_between_two_looks) {
  const Instant start = hand.clock.now();
  PlayedPeer peer = begun(job_answer("queued"));
  peer.close();
  PlayedPeer second = hand.accept();
  hand.turn();
  second.hear();
  EXPECT_EQ(second.heard, "");  // the look is not due yet
  hand.pass(1_s);
  EXPECT_THAT(look(second), StartsWith("GET /v1/videos/v:1?"));
  // An answer that closes its connection.
  second.say(job_answer("in_progress", "Connection: close\r\n"));
  PlayedPeer third = hand.accept();
  hand.pass(1_s);
  look(third);
  // A connection that ends as the look crosses it.
  third.close();
  PlayedPeer fourth = hand.accept();
  look(fourth);
  fourth.say(job_answer("completed"));
  look(fourth);
  fourth.say(job_content("mp4"));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(event().sent, start);
  EXPECT_EQ(hand.notes.sent.size(), 1U);
  EXPECT_EQ(hand.stats().queries_unprocessed, 0U);
}

TEST_F(Jobs, a_server_that_closes_on_every_look_is_given_up) {
  PlayedPeer peer = begun(job_answer("queued"));
  hand.pass(1_s);
  for (std::uint32_t i = 0; i <= kUnprocessedMax; ++i) {
    look(peer);
    peer.close();
    if (i < kUnprocessedMax) peer = hand.accept();
  }
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::truncated);
}

TEST_F(Jobs, what_is_no_end_of_a_job_is_a_failure_by_its_name) {
  constexpr std::size_t kStep = 32 * 1024;
  struct JobCase {
    std::string reply{};
    Outcome outcome = Outcome::ok;
    std::string why{};
  };
  const auto json = [](int status, std::string_view body) {
    return format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n\r\n{}", status, body.size(), body);
  };
  const std::vector<JobCase> cases{
      {json(200, R"({"id":"v","status":"failed","error":{"code":"x","message":"too rude"}})"),
       Outcome::stream_error, "too rude"},
      {json(200, R"({"id":"v","status":"failed","error":null})"), Outcome::stream_error,
       "the job failed"},
      {json(429, R"({"error":{"message":"slow down"}})"), Outcome::http_error,
       "HTTP 429: slow down"},
      {json(200, R"({"id":"v","status":"odd"})"), Outcome::bad_reply, "not a reply of this API"},
      {json(200, R"({"id":"a/../b","status":"queued"})"), Outcome::bad_reply, "in a path"},
      {json(200, "{"), Outcome::bad_reply, "not a reply of this API"},
      {json(200, ""), Outcome::truncated, "empty"},
      {json(200, std::string(std::size_t{1} << 21, 'x')), Outcome::bad_reply, "longer than 1 MiB"},
      {"no http\r\n\r\n", Outcome::bad_reply, ""},
  };
  for (const JobCase& one : cases) {
    const std::size_t before = hand.notes.done.size();
    hand.submit(static_cast<std::uint32_t>(before));
    PlayedPeer peer = hand.accept();
    hand.request(peer);
    for (std::size_t at = 0; at < one.reply.size(); at += kStep) {
      if (hand.notes.done.size() > before) break;
      peer.say(std::string_view(one.reply).substr(at, kStep));
      hand.turn();
    }
    ASSERT_TRUE(hand.done(before + 1)) << one.why;
    EXPECT_EQ(event().outcome, one.outcome) << one.why;
    EXPECT_THAT(hand.notes.details.back(), HasSubstr(one.why));
    peer.close();
    hand.turn();
  }
}

TEST_F(Jobs, a_querys_time_counts_from_its_first_connection) {
  hand.endpoints.query_timeout = 1500_ms;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  hand.pass(300_ms);
  peer.say(job_answer("queued", "Connection: close\r\n"));
  PlayedPeer second = hand.accept();
  hand.pass(1_s);
  look(second);
  second.say(job_answer("in_progress"));
  hand.turn();
  hand.pass(199_ms);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  hand.pass(1_ms);
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::timed_out);
}

TEST_F(Jobs, a_video_that_is_cut_is_truncated_and_a_refused_one_says_why) {
  PlayedPeer peer = begun(job_answer("completed"));
  look(peer);
  peer.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
  hand.turn();
  peer.close();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::truncated);
  PlayedPeer second = begun(job_answer("completed"));
  look(second);
  second.say("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone");
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(event().outcome, Outcome::http_error);
  EXPECT_EQ(hand.notes.details[1], "HTTP 404: gone");
}

TEST_F(Jobs, jobs_are_followed_side_by_side_each_on_its_connection) {
  hand.submit(0);
  hand.submit(1);
  PlayedPeer first = hand.accept();
  PlayedPeer second = hand.accept();
  hand.request(first);
  hand.request(second);
  first.say(job_answer("queued"));
  hand.turn();
  hand.pass(300_ms);
  second.say(job_answer("queued"));
  hand.turn();
  hand.pass(700_ms);
  look(first);
  second.hear();
  EXPECT_EQ(second.heard, "");
  hand.pass(300_ms);
  look(second);
  second.say(job_answer("completed"));
  look(second);
  second.say(job_content("b"));
  first.say(job_answer("completed"));
  look(first);
  first.say(job_content("a"));
  ASSERT_TRUE(hand.done(2));
  for (const Event& one : hand.notes.done) EXPECT_EQ(one.outcome, Outcome::ok);
}

TEST_F(Jobs, http2_is_refused_with_the_remedy) {
  hand.endpoints.http = HttpVersion::http2;
  const auto made =
      HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, hand.clock);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("leave --http 2 out"));
}

TEST_F(Jobs, a_body_without_a_length_ends_with_its_connection) {
  PlayedPeer peer = begun(
      "HTTP/1.1 200 OK\r\nContent-Type: "
      "application/json\r\n\r\n{\"id\":\"v:1\",\"status\":\"queued\"}");
  EXPECT_TRUE(hand.notes.done.empty());
  peer.close();
  PlayedPeer second = hand.accept();
  hand.turn();
  hand.pass(1_s);
  EXPECT_THAT(look(second), StartsWith("GET /v1/videos/v:1?"));
  second.say("HTTP/1.1 200 OK\r\n\r\n{\"id\":\"v:1\",\"status\":\"completed\"}");
  hand.turn();
  second.close();
  PlayedPeer third = hand.accept();
  EXPECT_THAT(look(third), StartsWith("GET /v1/videos/v:1/content?"));
  third.say("HTTP/1.1 200 OK\r\n\r\nmp4");
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  third.close();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::ok) << hand.notes.details[0];
}

TEST_F(Jobs, an_answer_that_breaks_off_is_truncated) {
  constexpr std::string_view kHalf = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{";
  PlayedPeer peer = begun(kHalf);
  peer.close();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::truncated);
  PlayedPeer second = begun(job_answer("queued"));
  hand.pass(1_s);
  look(second);
  second.say(kHalf);
  hand.turn();
  second.close();
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(event().outcome, Outcome::truncated);
}

TEST_F(Jobs, an_answer_that_is_reset_is_called_so) {
  PlayedPeer peer = begun("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{");
  peer.reset();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::reset);
  EXPECT_THAT(hand.notes.details[0], HasSubstr("Connection reset"));
}

TEST_F(Jobs, connections_that_end_are_counted_anew_after_each_answer) {
  PlayedPeer peer = begun(job_answer("queued"));
  for (int answers = 0; answers < 3; ++answers) {
    hand.pass(1_s);
    for (std::uint32_t i = 0; i < kUnprocessedMax; ++i) {
      look(peer);
      peer.close();
      peer = hand.accept();
    }
    look(peer);
    peer.say(job_answer("in_progress"));
    hand.turn();
  }
  EXPECT_TRUE(hand.notes.done.empty());
}

TEST_F(Jobs, bytes_that_nobody_asked_for_cost_the_connection_and_not_the_job) {
  PlayedPeer peer = begun(job_answer("queued") + "more");
  PlayedPeer second = hand.accept();
  hand.turn();
  second.say("odd");
  PlayedPeer third = hand.accept();
  hand.pass(1_s);
  EXPECT_THAT(look(third), StartsWith("GET /v1/videos/v:1?"));
  third.say(job_answer("completed"));
  look(third);
  third.say(job_content("mp4"));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(event().outcome, Outcome::ok) << hand.notes.details[0];
}

TEST_F(Jobs, an_id_is_a_segment_of_a_path_as_it_stands) {
  const auto answer = [](std::string_view id) {
    const std::string body = format(R"({{"id":"{}","status":"queued"}})", id);
    return format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", body.size(), body);
  };
  for (const char* const id : {".", "..", "a/", "a`", "a{", "a[", "a%41", "a b", "a?", "a#"}) {
    const std::size_t before = hand.notes.done.size();
    PlayedPeer peer = begun(answer(id));
    ASSERT_TRUE(hand.done(before + 1)) << id;
    EXPECT_EQ(event().outcome, Outcome::bad_reply) << id;
    EXPECT_THAT(hand.notes.details.back(), HasSubstr("in a path")) << id;
    peer.close();
    hand.turn();
  }
  PlayedPeer peer = begun(answer("azAZ09-._~:=@"));
  hand.pass(1_s);
  EXPECT_THAT(look(peer), StartsWith("GET /v1/videos/azAZ09-._~:=@?v=2 "));
}

TEST_F(Jobs, a_state_may_have_any_status_of_success_and_up_to_a_mebibyte) {
  hand.endpoints.fetch_artefacts = false;
  const auto outcome = [&](int status, std::size_t size) {
    std::string body = R"({"id":"v","status":"completed"})";
    body.resize(std::max(body.size(), size), ' ');
    const std::string reply =
        format("HTTP/1.1 {} X\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", status,
               body.size(), body);
    const std::size_t before = hand.notes.done.size();
    hand.submit(static_cast<std::uint32_t>(before));
    PlayedPeer peer = hand.accept();
    hand.request(peer);
    constexpr std::size_t kStep = 32 * 1024;
    for (std::size_t at = 0; at < reply.size() && hand.notes.done.size() == before; at += kStep) {
      peer.say(std::string_view(reply).substr(at, kStep));
      hand.turn();
    }
    EXPECT_TRUE(hand.done(before + 1));
    peer.close();
    hand.turn();
    return event().outcome;
  };
  EXPECT_EQ(outcome(200, 0), Outcome::ok);
  EXPECT_EQ(outcome(299, 0), Outcome::ok);
  EXPECT_EQ(outcome(300, 0), Outcome::http_error);
  EXPECT_EQ(outcome(200, std::size_t{1} << 20), Outcome::ok);
  EXPECT_EQ(outcome(200, (std::size_t{1} << 20) + 1), Outcome::bad_reply);
}

}  // namespace
}  // namespace assay::protocol
