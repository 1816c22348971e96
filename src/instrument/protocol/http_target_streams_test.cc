// HttpTarget's streams, sending and deadlines over HTTP/2, with a server that the test plays by
// hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "net/testing_http2.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

using net::Http2FrameType;
using testing::ElementsAre;
using testing::HasSubstr;

// What a peer received over HTTP/2: which streams' requests are whole, which were reset.
class Heard2 {
 public:
  void take(PlayedPeer& peer) {
    peer.hear();
    std::string& in = peer.heard;
    if (!greeted_ && in.size() >= 24) {
      greeted_ = in.starts_with("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
      in.erase(0, 24);
    }
    const auto byte = [&](std::size_t i) { return std::size_t{static_cast<unsigned char>(in[i])}; };
    while (greeted_ && in.size() >= 9) {
      const std::size_t size = 9 + (byte(0) << 16 | byte(1) << 8 | byte(2));
      if (in.size() < size) break;
      const auto stream = static_cast<std::uint32_t>(byte(7) << 8 | byte(8));
      const auto type = static_cast<Http2FrameType>(byte(3));
      if (type == Http2FrameType::data) body_bytes += size - 9;
      if (type == Http2FrameType::data && (byte(4) & net::kEndStream) != 0)
        requests.push_back(stream);
      if (type == Http2FrameType::rst_stream) resets.push_back(stream);
      if (type == Http2FrameType::goaway) ++goaways;
      in.erase(0, size);
    }
  }
  std::vector<std::uint32_t> requests{};
  std::vector<std::uint32_t> resets{};
  std::size_t body_bytes = 0;
  int goaways = 0;

 private:
  bool greeted_ = false;
};

// One HTTP/2 connection without TLS, and its server's actions.
struct Streams {
  Streams() { hand.endpoints.http = HttpVersion::http2; }
  // Opened for a query of its own, which gets its answer.
  void open(const std::string& settings = net::settings()) {
    hand.submit(900);
    peer = hand.accept();
    peer.say(settings);
    EXPECT_TRUE(heard(1));
    answer(1);
    EXPECT_TRUE(hand.done(1));
    hand.notes = {};
  }
  bool heard(std::size_t requests) {
    return hand.until([&] {
      log.take(peer);
      return log.requests.size() >= requests;
    });
  }
  std::string head(std::uint32_t stream, const std::string& status = net::kStatus200) {
    return net::head(stream, status + net::literal("content-type", "text/event-stream"));
  }
  std::string words(std::uint32_t stream, const std::string& text, std::uint8_t flags = 0) {
    return net::data(stream,
                     format("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{}\"}},"
                            "\"finish_reason\":\"stop\"}}]}}\n\n",
                            text),
                     flags);
  }
  void answer(std::uint32_t stream) {
    peer.say(head(stream) + words(stream, "a", net::kEndStream));
  }
  ByHand hand{};
  PlayedPeer peer{};
  Heard2 log{};
};

// The connection of a query's second try, after its request came.
PlayedPeer tried_again(ByHand& hand) {
  PlayedPeer next = hand.accept();
  next.say(net::settings());
  Heard2 heard;
  EXPECT_TRUE(hand.until([&] {
    heard.take(next);
    return heard.requests.size() == 1;
  }));
  return next;
}

TEST(HttpTargetStreams, each_instant_is_the_one_at_which_it_happened) {
  Streams s;
  ByHand& hand = s.hand;
  const Instant start = hand.clock.now();
  hand.submit(0);
  s.peer = hand.accept();
  hand.turn();
  hand.pass(1_ms);
  hand.turn();
  EXPECT_TRUE(hand.notes.sent.empty());  // the server has not begun
  hand.pass(1_ms);
  s.peer.say(net::settings());
  ASSERT_TRUE(s.heard(1));
  EXPECT_EQ(hand.notes.sent, (std::vector<Notes::Sent>{{0, start, start + 2_ms}}));
  hand.pass(2_ms);
  s.peer.say(s.head(1));
  hand.turn();
  hand.pass(3_ms);
  s.peer.say(s.words(1, "a"));
  hand.turn();
  hand.pass(4_ms);
  s.peer.say(net::data(1, "", net::kEndStream));
  ASSERT_TRUE(hand.done(1));
  const Event& event = hand.notes.done[0];
  EXPECT_EQ(event.outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(event.connect_time, 2_ms);
  EXPECT_EQ(event.first_byte, start + 4_ms);
  EXPECT_EQ(event.first_token, start + 7_ms);
  EXPECT_EQ(event.done, start + 11_ms);
  EXPECT_EQ(event.http_status, 200U);
  EXPECT_EQ(event.received_bytes, s.words(1, "a").size() - 9);
  EXPECT_EQ(hand.notes.text, "a");
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

// Requests that are begun one after the other go out together.
TEST(HttpTargetStreams, requests_wait_for_those_about_to_be_begun_and_for_no_time) {
  Streams s;
  s.open();
  ByHand& hand = s.hand;
  const auto poll = [&](Duration time) { hand.target().poll(hand.clock.now() + time, hand.notes); };
  for (std::uint32_t i = 0; i < 3; ++i) hand.submit(i);
  EXPECT_TRUE(hand.notes.sent.empty());
  poll({});  // more may come
  EXPECT_TRUE(hand.notes.sent.empty());
  hand.submit(3);
  poll({});
  EXPECT_TRUE(hand.notes.sent.empty());
  poll({});  // none came
  EXPECT_EQ(hand.notes.sent.size(), 4U);
  hand.submit(4);
  poll(1_ns);  // there is time
  EXPECT_EQ(hand.notes.sent.size(), 5U);
  for (std::uint32_t i = 5; i < 68; ++i) hand.submit(i);
  poll({});
  EXPECT_EQ(hand.notes.sent.size(), 5U);
  hand.submit(68);  // the 64th: 64 go out at once
  poll({});
  EXPECT_EQ(hand.notes.sent.size(), 69U);
  EXPECT_TRUE(s.heard(1 + 69));
  EXPECT_EQ(hand.stats().connections_opened, 1U);
  EXPECT_EQ(hand.stats().queued_for_connection, 0U);
}

TEST(HttpTargetStreams, a_connection_carries_100_streams_or_as_many_as_its_server_allows) {
  Streams many;
  for (std::uint32_t i = 0; i < 101; ++i) many.hand.submit(i);
  many.hand.turn();
  EXPECT_EQ(many.hand.stats().connections_opened, 2U);
  Streams s;
  s.open(net::settings(net::setting(net::kConcurrentStreams, 2)));
  ByHand& hand = s.hand;
  hand.submit(0);
  hand.submit(1);
  EXPECT_EQ(hand.stats().connections_opened, 1U);
  hand.submit(2);
  EXPECT_EQ(hand.stats().connections_opened, 2U);
  hand.submit(3);  // the one that is coming will carry it too
  EXPECT_EQ(hand.stats().connections_opened, 2U);
  hand.submit(4);
  EXPECT_EQ(hand.stats().connections_opened, 3U);
  ASSERT_TRUE(s.heard(3));
  s.answer(3);  // and so does one that is free again
  ASSERT_TRUE(s.heard(4));
  ASSERT_EQ(hand.notes.sent.size(), 3U);
  EXPECT_EQ(hand.notes.sent[2].index, 2U);
}

TEST(HttpTargetStreams, a_query_that_is_given_up_on_costs_its_stream_alone) {
  Streams s;
  s.hand.endpoints.query_timeout = 10_s;
  s.open();
  ByHand& hand = s.hand;
  hand.submit(0);
  ASSERT_TRUE(s.heard(2));
  const Instant sent = hand.notes.sent[0].at;
  hand.pass(1_s);
  hand.submit(1);
  ASSERT_TRUE(s.heard(3));
  hand.clock.sleep_until(sent + 10_s - 1_ns);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  hand.pass(1_ns);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::timed_out);
  s.log.take(s.peer);
  EXPECT_THAT(s.log.resets, ElementsAre(3));
  s.answer(3);  // too late: no query takes it
  s.answer(5);
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
  EXPECT_EQ(hand.notes.text, "a");
  hand.submit(2);
  ASSERT_TRUE(s.heard(4));
  EXPECT_EQ(hand.stats().connections_opened, 1U);
}

TEST(HttpTargetStreams, the_end_of_a_stream_is_awaited_as_that_of_a_body_is) {
  for (const bool failed : {false, true}) {
    Streams s;
    s.open();
    ByHand& hand = s.hand;
    hand.submit(0);
    ASSERT_TRUE(s.heard(2));
    const std::string status500 = net::literal(":status", "500");
    s.peer.say(failed ? s.head(3, status500)
                      : s.head(3) + s.words(3, "a") + net::data(3, "data: [DONE]\n\n"));
    hand.turn();
    const Duration most = failed ? 1_s : 250_ms;
    hand.pass(most - 1_ns);
    hand.turn();
    EXPECT_TRUE(hand.notes.done.empty());
    hand.pass(1_ns);
    hand.turn();
    ASSERT_EQ(hand.notes.done.size(), 1U);
    EXPECT_EQ(hand.notes.done[0].outcome, failed ? Outcome::http_error : Outcome::ok);
    s.log.take(s.peer);
    EXPECT_THAT(s.log.resets, ElementsAre(3));
    hand.submit(1);
    EXPECT_TRUE(s.heard(3));
  }
}

TEST(HttpTargetStreams, a_server_that_does_not_begin_or_allows_nothing_has_the_connect_timeout) {
  for (const bool begins : {false, true}) {
    Streams s;
    ByHand& hand = s.hand;
    hand.endpoints.connect_timeout = 5_s;
    const Instant start = hand.clock.now();
    hand.submit(0);
    s.peer = hand.accept();
    if (begins) s.peer.say(net::settings(net::setting(net::kConcurrentStreams, 0)));
    hand.turn();
    hand.clock.sleep_until(start + 5_s - 1_ns);
    hand.turn();
    EXPECT_TRUE(hand.notes.done.empty());
    hand.pass(1_ns);
    hand.turn();
    ASSERT_EQ(hand.notes.done.size(), 1U);
    EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
    EXPECT_EQ(hand.notes.details[0],
              begins ? "the server allowed no HTTP/2 stream within 5.00 s "
                       "(SETTINGS_MAX_CONCURRENT_STREAMS is 0)"
                     : "the server did not begin HTTP/2 within 5.00 s (no SETTINGS came)");
    EXPECT_TRUE(s.peer.closed());
  }
}

// The server allowed some streams, then none: waiting queries have the connect timeout.
TEST(HttpTargetStreams, a_server_that_allows_no_more_is_waited_for_as_long_as_for_a_connection) {
  Streams s;
  s.hand.endpoints.connect_timeout = 5_s;
  s.open();
  ByHand& hand = s.hand;
  hand.submit(0);
  ASSERT_TRUE(s.heard(2));
  s.peer.say(net::settings(net::setting(net::kConcurrentStreams, 0)));
  hand.turn();
  const Instant starved = hand.clock.now();
  hand.pass(5_s);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());  // what went out is under way
  s.peer.say(net::settings(net::setting(net::kConcurrentStreams, 9)));
  hand.turn();
  s.answer(3);
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  EXPECT_GT(hand.clock.now(), starved);
  hand.submit(1);
  ASSERT_TRUE(s.heard(3));
}

TEST(HttpTargetStreams, an_end_of_the_connection_is_told_to_each_of_its_queries) {
  struct Ended {
    std::string said;
    bool reset;
    Outcome outcome;
    std::string words;
  };
  const std::vector<Ended> cases{
      {"", false, Outcome::truncated, "the connection was closed"},
      {"", true, Outcome::reset, "Connection reset by peer"},
      {net::goaway(99, 2, "oom"), false, Outcome::reset, "INTERNAL_ERROR: oom"},
      {std::string(200, '\xFF'), false, Outcome::bad_reply, "FRAME_SIZE_ERROR"}};
  for (const Ended& c : cases) {
    Streams s;
    s.open();
    ByHand& hand = s.hand;
    hand.submit(0);
    hand.submit(1);
    ASSERT_TRUE(s.heard(3));
    s.peer.say(s.head(3) + s.head(5));
    hand.turn();
    if (!c.said.empty()) s.peer.say(c.said);
    hand.turn();
    c.reset ? s.peer.reset() : s.peer.close();
    ASSERT_TRUE(hand.done(2));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(to_string(hand.notes.done[i].outcome), to_string(c.outcome))
          << hand.notes.details[i];
      EXPECT_THAT(hand.notes.details[i], HasSubstr(c.words));
    }
    EXPECT_EQ(hand.target().in_flight(), 0U);
    EXPECT_EQ(hand.stats().queries_sent_again, 0U);
    hand.submit(2);
    EXPECT_TRUE(hand.until([&] { return hand.somebody_waits(); }));
  }
}

// A query that the server reports as unprocessed goes out again, and its time continues.
TEST(HttpTargetStreams, an_unprocessed_query_keeps_its_first_instant) {
  for (const bool refused : {false, true}) {
    Streams s;
    s.open();
    ByHand& hand = s.hand;
    const Instant start = hand.clock.now();
    hand.submit(0, 1_ms);
    ASSERT_TRUE(s.heard(2));
    hand.pass(5_ms);
    s.peer.say(refused ? net::reset(3, 7) : net::goaway(1, 0));
    PlayedPeer next = tried_again(hand);
    hand.pass(1_ms);
    next.say(s.head(1) + s.words(1, "a", net::kEndStream));
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
    EXPECT_EQ(hand.notes.done[0].sent, start);
    EXPECT_EQ(hand.notes.done[0].due, start - 1_ms);
    EXPECT_EQ(hand.notes.done[0].done, start + 6_ms);
    EXPECT_EQ(hand.notes.sent.size(), 1U);
    EXPECT_EQ(hand.stats().queries_unprocessed, 1U);
    EXPECT_EQ(hand.target().in_flight(), 0U);
  }
}

// The first try's deadline is over with it.
TEST(HttpTargetStreams, an_unprocessed_query_has_one_time_out_and_one_end) {
  Streams s;
  s.hand.endpoints.query_timeout = 30_s;
  s.open();
  ByHand& hand = s.hand;
  hand.submit(0);
  ASSERT_TRUE(s.heard(2));
  hand.pass(20_s);
  s.peer.say(net::goaway(1, 0));
  PlayedPeer next = tried_again(hand);
  hand.pass(15_s);
  hand.turn();
  EXPECT_EQ(hand.target().in_flight(), 1U);
  next.say(s.head(1) + s.words(1, "a", net::kEndStream));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
  hand.pass(60_s);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 1U);
}

TEST(HttpTargetStreams, a_stream_that_is_reset_names_the_error) {
  Streams s;
  s.open();
  ByHand& hand = s.hand;
  hand.submit(0);
  ASSERT_TRUE(s.heard(2));
  s.peer.say(s.head(3) + net::reset(3, 2));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::reset);
  EXPECT_EQ(hand.notes.details[0], "HTTP/2 stream reset: INTERNAL_ERROR");
  hand.submit(1);
  EXPECT_TRUE(s.heard(3));
  EXPECT_EQ(hand.stats().connections_opened, 1U);
}

TEST(HttpTargetStreams, an_idle_connection_is_used_up_to_its_age) {
  for (const Duration over : {Duration{}, 1_ns}) {
    Streams s;
    s.hand.endpoints.idle_connection_max = 2_s;
    s.open();
    s.hand.pass(2_s + over);
    s.hand.turn();
    s.hand.submit(0);
    EXPECT_EQ(s.hand.stats().connections_opened, over == Duration{} ? 1U : 2U);
    s.hand.turn();
    EXPECT_EQ(s.peer.closed(), over != Duration{});
  }
}

TEST(HttpTargetStreams, one_that_the_server_ended_idle_is_lost_and_says_nothing_of_keeping) {
  Streams s;
  s.open();
  ByHand& hand = s.hand;
  s.peer.close();
  ASSERT_TRUE(hand.until([&] { return hand.stats().connections_lost_idle == 1; }));
  hand.submit(0);
  s.peer = hand.accept();
  s.log = {};
  s.peer.say(net::settings());
  ASSERT_TRUE(s.heard(1));
  s.answer(1);
  ASSERT_TRUE(hand.done(1));
  hand.submit(1);
  EXPECT_TRUE(s.heard(2));
  EXPECT_EQ(hand.stats().connections_opened, 2U);
}

TEST(HttpTargetStreams, a_large_body_goes_out_as_the_peer_reads) {
  Streams s;
  ByHand& hand = s.hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
  hand.submit(0);
  s.peer = hand.accept();
  s.peer.say(net::settings(net::setting(net::kInitialWindow, 0x7fffffff)) +
             net::frame(Http2FrameType::window_update, 0, 0, net::big_endian(0x7fff0000)));
  hand.turn();
  EXPECT_TRUE(hand.notes.sent.empty());
  hand.pass(3_ms);
  ASSERT_TRUE(s.heard(1));
  EXPECT_GT(s.log.body_bytes, ByHand::kLargeBytes);
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 1; }));
  EXPECT_EQ(hand.notes.sent[0].at, hand.clock.now());
  s.answer(1);
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  EXPECT_EQ(hand.notes.done[0].sent, hand.clock.now());
}

TEST(HttpTargetStreams, cancelling_ends_every_stream) {
  Streams s;
  s.open(net::settings(net::setting(net::kConcurrentStreams, 2)));
  ByHand& hand = s.hand;
  for (std::uint32_t i = 0; i < 2; ++i) hand.submit(i);
  ASSERT_TRUE(s.heard(3));
  hand.target().cancel_all(hand.notes);
  ASSERT_EQ(hand.notes.done.size(), 2U);
  for (const Event& event : hand.notes.done) EXPECT_EQ(event.outcome, Outcome::cancelled);
  s.log.take(s.peer);
  EXPECT_EQ(s.log.resets.size(), 2U);
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

// A compressed reply is refused while the peer reads nothing: the reset of its stream waits behind
// 1 MiB of requests. The peer reads again, and before the target looks, another query is cancelled:
// with its own reset goes the first one, and both queries end. Each has one end.
TEST(HttpTargetStreams, a_stream_that_ends_while_another_is_given_up_ends_once) {
  Streams s;
  ByHand& hand = s.hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(2 * ByHand::kLargeBytes, 'x');
  for (std::uint32_t i = 0; i < 2; ++i) hand.submit(i);
  s.peer = hand.accept();
  s.peer.say(net::settings(net::setting(net::kInitialWindow, 0x7fffffff)) +
             net::frame(Http2FrameType::window_update, 0, 0, net::big_endian(0x7ff00000)));
  // Until both kernels are full, also for what is tried when a frame comes.
  std::uint64_t sent = 0;
  for (int same = 0; same < 5;) {
    s.peer.say(net::frame(Http2FrameType::window_update, 0, 0, net::big_endian(1)));
    hand.turn();
    const std::uint64_t before = std::exchange(sent, hand.stats().bytes_sent);
    same = before > 0 && sent == before ? same + 1 : 0;
  }
  s.peer.say(net::head(1, net::kStatus200 + net::literal("content-encoding", "gzip")));
  hand.turn();
  ASSERT_TRUE(hand.notes.done.empty()) << "its reset waits";
  s.peer.hear();
  hand.target().cancel_all(hand.notes);
  ASSERT_EQ(hand.notes.done.size(), 2U);
  EXPECT_EQ(hand.notes.done[0].query.index, 0U);
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::bad_reply);
  EXPECT_THAT(hand.notes.details[0], HasSubstr("compressed"));
  EXPECT_EQ(hand.notes.done[1].query.index, 1U);
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::cancelled);
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

TEST(HttpTargetStreams, a_server_that_breaks_the_protocol_is_told_so_before_the_end) {
  Streams s;
  s.open();
  s.hand.submit(0);
  ASSERT_TRUE(s.heard(2));
  EXPECT_EQ(s.log.goaways, 0);
  s.peer.say(net::data(0, "of no stream"));
  ASSERT_TRUE(s.hand.done(1));
  EXPECT_EQ(to_string(s.hand.notes.done[0].outcome), "bad_reply") << s.hand.notes.details[0];
  s.log.take(s.peer);
  EXPECT_EQ(s.log.goaways, 1);
}

// Its last bytes are read though it takes no more of ours.
TEST(HttpTargetStreams, a_goaway_of_a_connection_that_is_found_broken_is_heard) {
  Streams s;
  s.open();
  ByHand& hand = s.hand;
  s.peer.say(net::goaway(1, 0));
  s.peer.reset();
  hand.submit(0);
  s.peer = hand.accept();
  s.log = {};
  s.peer.say(net::settings());
  ASSERT_TRUE(s.heard(1));
  s.answer(1);
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(to_string(hand.notes.done[0].outcome), "ok") << hand.notes.details[0];
  EXPECT_EQ(hand.notes.sent.size(), 1U);
}

TEST(HttpTargetStreams, requests_that_were_on_their_way_out_of_a_broken_connection_are_not_told) {
  Streams s;
  ByHand& hand = s.hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes / 6, 'x');
  const std::string wide =
      net::settings(net::setting(net::kInitialWindow, 0x7fffffff)) +
      net::frame(Http2FrameType::window_update, 0, 0, net::big_endian(0x7fff0000));
  for (std::uint32_t i = 0; i < 6; ++i) hand.submit(i);
  s.peer = hand.accept();
  s.peer.say(wide);
  hand.turn();
  EXPECT_TRUE(hand.notes.sent.empty());
  s.peer.reset();
  ASSERT_TRUE(hand.done(6));
  for (const Event& event : hand.notes.done) EXPECT_NE(event.outcome, Outcome::ok);
  EXPECT_TRUE(hand.notes.sent.empty());
  hand.notes = {};
  hand.submit(9);
  s.peer = hand.accept();
  s.log = {};
  s.peer.say(wide);
  ASSERT_TRUE(s.heard(1));
  s.answer(1);
  ASSERT_TRUE(hand.done(1));
  ASSERT_EQ(hand.notes.sent.size(), 1U);
  EXPECT_EQ(hand.notes.sent[0].index, 9U);
}

}  // namespace
}  // namespace assay::protocol
