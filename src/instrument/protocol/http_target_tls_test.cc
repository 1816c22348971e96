// HttpTarget over TLS, with a server that the test plays by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "net/testing_http2.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

struct OverTls {
  explicit OverTls(bool offer_http2 = false)
      : context(net::TlsContext::self_signed_server(&pem, offer_http2).value()) {
    hand.endpoints.insecure = true;
  }
  PlayedPeer accept() {
    PlayedPeer peer = hand.accept();
    peer.speak_tls(context);
    return peer;
  }
  // The peer of the first query, which has one word of its reply.
  PlayedPeer after_a_word() {
    hand.submit(0);
    PlayedPeer peer = accept();
    hand.request(peer);
    peer.say(stream_head() + word_chunk("a"));
    hand.turn();
    return peer;
  }
  // Until the handshake is over on both sides.
  void shake(PlayedPeer& peer) {
    EXPECT_TRUE(hand.until([&] {
      peer.hear(500);
      return peer.shaken();
    }));
  }
  std::string pem{};
  net::TlsContext context;
  ByHand hand{1, "https"};
};

TEST(HttpTargetTls, a_connection_is_ready_when_its_handshake_is) {
  OverTls over;
  ByHand& hand = over.hand;
  const Instant start = hand.clock.now();
  hand.submit(0);
  PlayedPeer peer = over.accept();
  hand.pass(3_ms);
  const std::string request = hand.request(peer);
  EXPECT_EQ(hand.notes.sent, (std::vector<Notes::Sent>{{0, start, start + 3_ms}}));
  hand.pass(2_ms);
  peer.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  const Event& event = hand.notes.done[0];
  EXPECT_EQ(event.outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(event.connect_time, 3_ms);
  EXPECT_EQ(event.done, start + 5_ms);
  EXPECT_EQ(hand.stats().tls_version, "TLSv1.3");
  EXPECT_GT(hand.stats().bytes_sent, request.size());
  hand.exchange(peer, 1, plain_reply());
  EXPECT_FALSE(hand.notes.done[1].connected);
  EXPECT_EQ(hand.stats().connections_failed, 0U);
}

TEST(HttpTargetTls, nothing_of_a_session_is_left_for_a_connection_without_one) {
  ByHand hand(2, "https");
  hand.endpoints.insecure = true;
  hand.endpoints.urls[1].replace(0, 5, "http");
  hand.submit(0);
  PlayedPeer first = hand.accept(0);
  hand.turn();
  first.reset();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::tls_failed);
  hand.submit(1);
  PlayedPeer second = hand.accept(1);
  EXPECT_TRUE(hand.request(second).starts_with("POST "));
  second.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok) << hand.notes.details[1];
}

TEST(HttpTargetTls, records_may_be_cut_anywhere) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  peer.hold = true;
  const auto hand_over = [&] {
    const std::string bytes = std::exchange(peer.held, "");
    for (const char c : bytes) {
      peer.say_raw({&c, 1});
      hand.turn();
    }
  };
  ASSERT_TRUE(hand.until([&] {
    peer.hear();
    hand_over();
    return peer.heard.find("\r\n\r\n") != std::string::npos && !peer.request().empty();
  }));
  peer.say(stream_head());
  peer.say(word_chunk("a"));
  peer.say(word_chunk("b") + stop_chunk());
  peer.say(kStreamEnd);
  hand_over();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(hand.notes.text, "ab");
}

// The records of one read came together: the events of all but the last record share it.
TEST(HttpTargetTls, records_that_came_together_share_their_read) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  hand.request(peer);
  peer.hold = true;
  peer.say(stream_head() + word_chunk("a"));
  peer.say(word_chunk("b"));
  peer.say_raw(std::exchange(peer.held, ""));
  hand.turn();
  ASSERT_EQ(hand.notes.events.size(), 2U);
  EXPECT_TRUE(hand.notes.events[0].shares_read);
  EXPECT_FALSE(hand.notes.events[1].shares_read);
  // For any bytes after it, in its own record and in later ones.
  for (std::size_t size = 1; size < 60; ++size) {
    hand.notes.events.clear();
    peer.say(word_chunk("c") + format("{:x}\r\n{}\r\n", size, std::string(size, '\n')));
    peer.say("1\r\n\n\r\n");
    peer.say_raw(std::exchange(peer.held, ""));
    ASSERT_TRUE(hand.until([&] { return !hand.notes.events.empty(); }));
    EXPECT_TRUE(hand.notes.events[0].shares_read) << size;
  }
  // A reply followed by more bytes ends its connection, also in another record.
  peer.say(stop_chunk() + std::string(kStreamEnd));
  peer.say("x");
  peer.say_raw(std::exchange(peer.held, ""));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  EXPECT_TRUE(peer.closed());
}

TEST(HttpTargetTls, what_is_no_tls_fails_by_name) {
  struct Stranger {
    std::string said;
    bool closes;
    bool resets;
    const char* words;
  };
  for (const Stranger& c :
       {Stranger{"HTTP/1.1 400 Bad Request\r\n\r\n", false, false, "wrong version number"},
        Stranger{"", true, false, "the peer closed the connection at once"},
        Stranger{"", false, true, "Connection reset by peer"},
        Stranger{"\x16", true, false, "the peer closed the connection at once"}}) {
    OverTls over;
    ByHand& hand = over.hand;
    hand.submit(0);
    PlayedPeer peer = hand.accept();
    ASSERT_TRUE(hand.until([&] {  // its ClientHello has come
      peer.hear();
      return !peer.heard.empty();
    }));
    if (!c.said.empty()) peer.say_raw(c.said);
    if (c.closes) peer.close();
    if (c.resets) peer.reset();
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(to_string(hand.notes.done[0].outcome), "tls_failed");
    EXPECT_THAT(hand.notes.details[0], HasSubstr(c.words));
    EXPECT_EQ(hand.stats().connections_failed, 1U);
    EXPECT_EQ(hand.target().in_flight(), 0U);
  }
}

TEST(HttpTargetTls, a_certificate_that_nobody_trusts_is_refused) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.endpoints.insecure = false;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return !hand.notes.done.empty();
  }));
  EXPECT_EQ(to_string(hand.notes.done[0].outcome), "tls_failed");
  EXPECT_THAT(hand.notes.details[0], HasSubstr("certificate"));
}

TEST(HttpTargetTls, a_handshake_has_until_the_connect_timeout) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.endpoints.connect_timeout = 5_s;
  hand.options.connections_max = 1;
  const Instant start = hand.clock.now();
  hand.submit(0);
  hand.submit(1);
  PlayedPeer peer = hand.accept();
  hand.turn();
  hand.clock.sleep_until(start + 5_s - 1_ns);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  hand.pass(1_ns);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
  EXPECT_EQ(hand.notes.details[0], "no connection within 5.00 s");
  EXPECT_EQ(hand.notes.done[0].done, start + 5_s);
  EXPECT_TRUE(peer.closed());
  // The next query in line has its own connection and time.
  PlayedPeer next = over.accept();
  hand.request(next);
  next.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
  hand.pass(60_s);  // an open connection has no deadline
  hand.turn();
  EXPECT_FALSE(next.closed());
  EXPECT_EQ(hand.stats().connections_failed, 1U);
}

TEST(HttpTargetTls, a_wait_for_a_handshake_ends_at_its_deadline) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.endpoints.connect_timeout = 1_s;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.turn();
  hand.pass(999_ms);
  hand.target().poll(Instant::max(), hand.notes);
  hand.pass(1_ms);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 1U);
}

TEST(HttpTargetTls, a_broken_record_ends_the_query_by_name) {
  OverTls over;
  ByHand& hand = over.hand;
  PlayedPeer peer = over.after_a_word();
  peer.say_raw(std::string("\x17\x03\x03\x00\x10", 5) + std::string(16, 'x'));
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(to_string(hand.notes.done[0].outcome), "tls_failed");
  EXPECT_FALSE(hand.notes.details[0].empty());
  EXPECT_TRUE(peer.closed());
  EXPECT_EQ(hand.notes.text, "a");
}

TEST(HttpTargetTls, an_end_without_farewell_is_an_end) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  hand.request(peer);
  peer.say("HTTP/1.1 200 OK\r\n\r\n" + plain_reply().substr(plain_reply().find("{")));
  hand.turn();
  peer.close();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
}

// The TCP connection stays open: TLS alone says that nothing more comes.
TEST(HttpTargetTls, a_farewell_of_tls_is_the_end_of_its_connection) {
  OverTls over;
  ByHand& hand = over.hand;
  PlayedPeer peer = over.after_a_word();
  ASSERT_TRUE(peer.tls().say_goodbye());
  peer.send();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::truncated);
  EXPECT_EQ(hand.notes.details[0], "the connection was closed inside the body");
  EXPECT_TRUE(peer.closed());
  hand.submit(1);
  PlayedPeer idle = over.accept();
  hand.request(idle);
  idle.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  ASSERT_TRUE(idle.tls().say_goodbye());
  idle.send();
  EXPECT_TRUE(hand.until([&] { return hand.stats().connections_lost_idle == 1; }));
  EXPECT_TRUE(idle.closed());
}

TEST(HttpTargetTls, a_large_request_goes_out_as_the_peer_reads) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
  hand.submit(0);
  PlayedPeer peer = over.accept();
  over.shake(peer);
  hand.turn();
  EXPECT_TRUE(hand.notes.sent.empty());
  EXPECT_THAT(hand.request(peer), HasSubstr(hand.datasets[0].dataset.samples[0].prompt));
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 1; }));
  peer.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
}

TEST(HttpTargetTls, http2_is_spoken_where_both_want_it) {
  for (const auto& [version, offered, spoken] : {std::tuple{HttpVersion::automatic, true, true},
                                                 {HttpVersion::automatic, false, false},
                                                 {HttpVersion::http1, true, false},
                                                 {HttpVersion::http2, true, true}}) {
    OverTls over(offered);
    ByHand& hand = over.hand;
    hand.endpoints.http = version;
    hand.submit(0);
    PlayedPeer peer = over.accept();
    ASSERT_TRUE(hand.until([&] {
      peer.hear();
      return !peer.heard.empty();
    }));
    EXPECT_EQ(peer.heard.starts_with("PRI * HTTP/2.0"), spoken);
    if (!spoken) continue;
    peer.say(net::settings());
    hand.pass(1_ms);
    ASSERT_TRUE(hand.until([&] { return !hand.notes.sent.empty(); }));
    peer.say(net::head(1, net::kStatus200 + net::literal("content-type", "application/json")) +
             net::data(1, plain_reply().substr(plain_reply().find("{")), net::kEndStream));
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
    EXPECT_EQ(hand.notes.done[0].connect_time, 1_ms);  // until the server began too
    EXPECT_EQ(hand.stats().connections_opened, 1U);
  }
  OverTls over(false);
  ByHand& hand = over.hand;
  hand.endpoints.http = HttpVersion::http2;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  EXPECT_TRUE(hand.until([&] {
    peer.hear();
    return !hand.notes.done.empty();
  }));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
  EXPECT_EQ(hand.notes.details[0], "the endpoint does not speak HTTP/2 (ALPN)");
}

TEST(HttpTargetTls, a_server_may_change_its_keys_in_the_middle_of_a_reply) {
  for (const bool in_one : {false, true}) {
    OverTls over;
    ByHand& hand = over.hand;
    hand.submit(0);
    PlayedPeer peer = over.accept();
    hand.request(peer);
    peer.hold = in_one;
    peer.say(stream_head() + word_chunk("a"));
    ASSERT_TRUE(peer.tls().change_keys(true));
    peer.say(word_chunk("b"));
    ASSERT_TRUE(peer.tls().change_keys(true));
    peer.hold = false;
    peer.say_raw(std::exchange(peer.held, ""));
    peer.say(stop_chunk() + std::string(kStreamEnd));
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
    EXPECT_EQ(hand.notes.text, "ab");
    hand.exchange(peer, 1, plain_reply());
    EXPECT_EQ(hand.stats().connections_opened, 1U) << "with the new keys";
  }
}

TEST(HttpTargetTls, a_server_that_asks_to_renegotiate_is_refused_by_name) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  peer.tls().speak_at_most_tls_1_2();
  hand.request(peer);
  peer.say(stream_head() + word_chunk("a"));
  ASSERT_TRUE(peer.tls().ask_for_another_handshake());
  peer.send();
  // The refusal goes out at once, and OpenSSL's server answers it with an end.
  ASSERT_TRUE(hand.until([&] {
    peer.hear();
    return !hand.notes.done.empty();
  }));
  EXPECT_EQ(hand.stats().tls_version, "TLSv1.2");
  EXPECT_EQ(to_string(hand.notes.done[0].outcome), "tls_failed");
  EXPECT_THAT(hand.notes.details[0], HasSubstr("asked to renegotiate, which is refused"));
  EXPECT_EQ(hand.notes.text, "a");
}

// The end came, and the target had not read it yet.
TEST(HttpTargetTls, a_connection_that_is_found_broken_when_it_is_sent_to_fails_its_query_by_name) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  hand.request(peer);
  peer.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  hand.exchange(peer, 1, plain_reply());
  peer.reset();
  hand.submit(2, 1_ms);
  EXPECT_EQ(hand.notes.done.size(), 2U);  // submit() ends nothing
  ASSERT_TRUE(hand.done(3));
  EXPECT_EQ(hand.notes.done[2].outcome, Outcome::reset);
  EXPECT_EQ(hand.notes.details[2], "cannot send: Connection reset by peer");
  EXPECT_EQ(hand.notes.done[2].due, hand.clock.now() - 1_ms);
  hand.turn();
  EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

// The record of a connection that had a transport says nothing of the next one's handshake.
TEST(HttpTargetTls, a_silent_handshake_on_a_used_record_has_the_words_of_a_handshake) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.endpoints.connect_timeout = 5_s;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  hand.request(peer);
  peer.say(plain_reply("Connection: close\r\n"));
  ASSERT_TRUE(hand.done(1));
  hand.submit(1);
  PlayedPeer silent = over.accept();
  hand.turn();
  hand.pass(5_s);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 2U);
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::connect_failed);
  EXPECT_EQ(hand.notes.details[1], "no connection within 5.00 s");
}

// The last bytes of the handshake came, and the end behind them.
TEST(HttpTargetTls, an_end_behind_the_handshake_fails_the_query_and_not_the_next) {
  OverTls over;
  ByHand& hand = over.hand;
  hand.submit(0);
  PlayedPeer peer = over.accept();
  peer.hold = true;
  ASSERT_TRUE(hand.until([&] {
    peer.hear();
    return !peer.held.empty();
  }));
  peer.say_raw(std::exchange(peer.held, ""));
  peer.reset();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::tls_failed);
  EXPECT_THAT(hand.notes.details[0], HasSubstr("Connection reset by peer"));
  EXPECT_EQ(hand.stats().connections_failed, 1U);
  hand.submit(1);
  PlayedPeer next = over.accept();
  EXPECT_FALSE(hand.request(next).empty());
  next.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
}

}  // namespace
}  // namespace assay::protocol
