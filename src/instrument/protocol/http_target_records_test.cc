// HttpTarget's records of connections and queries are used again and again: what one use leaves to
// the next, and what a failed use leaves to those that wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "net/testing_http2.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

TEST(HttpTargetRecords, the_sink_of_a_call_gets_what_the_call_reports) {
  ByHand hand;
  PlayedPeer peer;
  hand.exchange(peer, 0, plain_reply());
  hand.submit(1);
  ASSERT_EQ(hand.notes.sent.size(), 2U);
  hand.request(peer);
  peer.say(plain_reply());
  Notes other;
  hand.target().poll(hand.clock.now(), other);
  ASSERT_EQ(other.done.size(), 1U);
  EXPECT_EQ(other.done[0].query.index, 1U);
  hand.submit(2);
  Notes last;
  hand.target().cancel_all(last);
  EXPECT_EQ(last.done.size(), 1U);
  EXPECT_EQ(hand.notes.done.size(), 1U);
}

TEST(HttpTargetRecords, a_share_of_what_is_ready_counts_each_connection_once) {
  ByHand opening;
  for (std::uint32_t i = 0; i < 20; ++i) opening.submit(i);
  for (const std::size_t sent : {8U, 16U, 20U}) {
    opening.target().poll(opening.clock.now(), opening.notes);
    EXPECT_EQ(opening.notes.sent.size(), sent);
  }
  // Reads and new connections by turns.
  ByHand mixed;
  std::vector<PlayedPeer> peers = mixed.submit_each(10);
  mixed.turn();
  for (std::uint32_t i = 0; i < 10; ++i) {
    peers[i].say(stream_head());
    mixed.submit(10 + i);
  }
  mixed.target().poll(mixed.clock.now(), mixed.notes);
  EXPECT_EQ(mixed.stats().reads, 4U);
  EXPECT_EQ(mixed.notes.sent.size(), 14U);
}

TEST(HttpTargetRecords, all_that_are_made_ahead_are_ready_when_more_connect_than_one_look_lists) {
  ByHand hand;
  ASSERT_TRUE(hand.target().connect_ahead(130));
  for (std::uint32_t i = 0; i < 130; ++i) hand.submit(i);
  EXPECT_EQ(hand.notes.sent.size(), 130U);
  EXPECT_EQ(hand.stats().queued_for_connection, 0U);
  EXPECT_EQ(hand.stats().connections_opened, 130U);
}

TEST(HttpTargetRecords, a_server_that_came_up_is_reached_ahead_whatever_failed_before) {
  ByHand hand;
  const net::Address address = net::local_address(hand.listeners[0]).value();
  hand.listeners[0].reset();
  ASSERT_FALSE(hand.target().connect_ahead(1));
  hand.listeners[0] = net::listen_on(address, {}).value();
  const auto ahead = hand.target().connect_ahead(1);
  EXPECT_TRUE(ahead) << ahead.error().message;
}

TEST(HttpTargetRecords, a_peer_that_is_silent_ahead_has_the_connect_timeout) {
  ByHand hand(1, "https");
  hand.endpoints.insecure = true;
  hand.endpoints.connect_timeout = 1_ms;
  OsClock clock;
  auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
  ASSERT_TRUE(target);
  const auto ahead = (*target)->connect_ahead(1);
  ASSERT_FALSE(ahead);
  EXPECT_THAT(ahead.error().message, HasSubstr("no connection within 1.00 ms"));
}

TEST(HttpTargetRecords, a_connection_that_failed_is_not_given_up_on_when_its_time_ends) {
  ByHand hand(1, "https");
  hand.endpoints.insecure = true;
  hand.endpoints.connect_timeout = 1_s;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.turn();
  peer.close();
  ASSERT_TRUE(hand.done(1));
  hand.pass(2_s);
  hand.turn();
  EXPECT_EQ(hand.stats().connections_failed, 1U);
  EXPECT_EQ(hand.notes.done.size(), 1U);
}

TEST(HttpTargetRecords, every_endpoint_is_cancelled) {
  ByHand hand(3);
  hand.options.connections_max = 1;
  for (std::uint32_t i = 0; i < 6; ++i) hand.submit(i);
  hand.target().cancel_all(hand.notes);
  EXPECT_EQ(hand.notes.done.size(), 6U);
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

TEST(HttpTargetRecords, certificates_are_read_only_where_an_endpoint_has_tls) {
  for (const bool tls : {false, true}) {
    ByHand hand(1, tls ? "https" : "http");
    hand.options.ca_file = "/nonexistent/ca.pem";
    const auto made =
        HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, hand.clock);
    EXPECT_EQ(bool(made), !tls);
  }
}

TEST(HttpTargetRecords, a_connection_that_cannot_even_begin_fails_its_query_by_name) {
  ByHand hand;
  hand.endpoints.urls = {"http+unix:///nonexistent/assay.sock:/v1"};
  hand.submit(0);
  hand.submit(1);
  EXPECT_TRUE(hand.notes.done.empty());  // submit() ends nothing
  ASSERT_TRUE(hand.done(2));
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(hand.notes.done[i].outcome, Outcome::connect_failed);
    EXPECT_THAT(hand.notes.details[i], HasSubstr("No such file or directory"));
  }
  EXPECT_EQ(hand.stats().connections_failed, 2U);
  EXPECT_EQ(hand.stats().connections_opened, 0U);
}

TEST(HttpTargetRecords, a_query_that_waits_gets_a_new_connection_when_the_only_one_ends) {
  for (const bool answers : {false, true}) {  // resets instead of a reply, or right behind it
    ByHand hand;
    hand.options.connections_max = 1;
    hand.submit(0);
    PlayedPeer first = hand.accept();
    hand.request(first);
    hand.submit(1);
    hand.turn();
    if (answers) first.say(plain_reply());
    first.reset();
    PlayedPeer second = hand.accept();
    EXPECT_FALSE(hand.request(second).empty());
    second.say(plain_reply());
    ASSERT_TRUE(hand.done(2));
    EXPECT_EQ(hand.notes.done[0].outcome, answers ? Outcome::ok : Outcome::reset);
    EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
    EXPECT_EQ(hand.stats().connections_opened, 2U);
    EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
  }
}

TEST(HttpTargetRecords, a_query_that_waits_keeps_waiting_while_a_connection_is_open) {
  ByHand hand;
  hand.options.connections_max = 2;
  hand.submit(0);
  PlayedPeer open = hand.accept();
  hand.request(open);
  hand.listeners[0].reset();
  hand.submit(1);
  hand.submit(2);
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
  EXPECT_EQ(hand.notes.done[0].query.index, 1U);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.stats().connections_failed, 1U);
  open.say(plain_reply());
  EXPECT_FALSE(hand.request(open).empty());
  open.say(plain_reply());
  ASSERT_TRUE(hand.done(3));
  EXPECT_EQ(hand.notes.done[2].outcome, Outcome::ok);
}

TEST(HttpTargetRecords, after_the_first_loss_an_idle_connection_is_used_only_if_it_is_new) {
  ByHand hand;
  std::vector<PlayedPeer> peers = hand.submit_each(2);
  for (PlayedPeer& peer : peers) {
    peer.say(plain_reply());
    hand.turn();
  }
  ASSERT_EQ(hand.notes.done.size(), 2U);
  hand.submit(2);  // on the last that was used
  hand.request(peers[1]);
  peers[1].close();
  PlayedPeer next = hand.accept();
  hand.request(next);
  next.say(plain_reply());
  ASSERT_TRUE(hand.done(3));
  EXPECT_EQ(hand.stats().queries_sent_again, 1U);
  EXPECT_FALSE(peers[0].closed());
  PlayedPeer third;
  hand.exchange(third, 3, plain_reply());
  EXPECT_TRUE(peers[0].closed());
  EXPECT_EQ(hand.stats().connections_opened, 4U);
  ASSERT_TRUE(hand.target().connect_ahead(1));
  EXPECT_EQ(hand.stats().connections_opened, 5U);
  PlayedPeer fresh = hand.accept();
  hand.submit(4);
  EXPECT_EQ(hand.notes.sent.back().index, 4U);
  EXPECT_FALSE(hand.request(fresh).empty());
  EXPECT_EQ(hand.stats().connections_opened, 5U);
}

// The two are begun in one order and answered in the other.
TEST(HttpTargetRecords, the_order_of_use_is_that_of_the_replies) {
  ByHand hand;
  hand.submit(0);
  hand.submit(1);
  PlayedPeer one = hand.accept();
  PlayedPeer two = hand.accept();
  hand.request(one);
  hand.request(two);
  two.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  one.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  hand.submit(2);
  EXPECT_FALSE(hand.request(one).empty());
}

TEST(HttpTargetRecords, a_part_of_a_request_that_went_out_leaves_nothing_to_the_next_connection) {
  ByHand hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(4 * ByHand::kLargeBytes, 'x');
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.turn();
  const std::uint64_t first = hand.stats().bytes_sent;
  ASSERT_TRUE(hand.until([&] {
    peer.hear(65'536);
    return hand.stats().bytes_sent > first;
  }));
  ASSERT_TRUE(hand.notes.sent.empty());
  hand.target().cancel_all(hand.notes);
  PlayedPeer next;
  hand.exchange(next, 1, plain_reply());
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
}

// The record of a query whose connection broke serves another, whose request is not out yet.
TEST(HttpTargetRecords, a_request_is_not_told_by_a_connection_that_used_its_record) {
  ByHand hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
  hand.submit(0);
  PlayedPeer kept = hand.accept();
  hand.turn();
  hand.submit(1);
  PlayedPeer broken = hand.accept();
  hand.turn();
  hand.request(kept);
  kept.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  broken.reset();
  ASSERT_TRUE(hand.done(2));
  hand.submit(2);  // on the kept one
  hand.submit(3);  // on a new one, with the record of the broken one
  PlayedPeer next = hand.accept();
  hand.request(next);
  hand.turn();
  ASSERT_EQ(hand.notes.sent.size(), 2U);
  EXPECT_EQ(hand.notes.sent[0].index, 0U);
  EXPECT_EQ(hand.notes.sent[1].index, 3U);
}

// The deadline of a query that could not be sent is not that of the next one with its record.
TEST(HttpTargetRecords, a_query_that_could_not_be_sent_has_no_time_out) {
  ByHand hand;
  hand.endpoints.query_timeout = 30_s;
  PlayedPeer peer;
  hand.exchange(peer, 0, plain_reply());
  hand.exchange(peer, 1, plain_reply());
  peer.reset();
  hand.submit(2);
  ASSERT_TRUE(hand.done(3));
  EXPECT_EQ(hand.notes.details[2], "cannot send: Connection reset by peer");
  hand.pass(20_s);
  hand.submit(3);
  PlayedPeer next = hand.accept();
  hand.request(next);
  hand.pass(10_s);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 3U);
  EXPECT_FALSE(next.closed());
}

TEST(HttpTargetRecords, bytes_that_nobody_asked_for_may_come_on_many_new_connections_at_once) {
  ByHand hand;
  ASSERT_TRUE(hand.target().connect_ahead(3));
  std::vector<PlayedPeer> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(hand.accept());
  for (PlayedPeer& peer : peers) peer.say("x");
  hand.target().poll(hand.clock.now() + 1_s, hand.notes);
  EXPECT_EQ(hand.stats().reads, 3U);
  for (PlayedPeer& peer : peers) EXPECT_TRUE(peer.closed());
  EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
}

TEST(HttpTargetRecords, a_reply_that_comes_byte_for_byte_is_whole) {
  ByHand hand;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  const std::string reply = plain_reply();
  for (const char c : reply) {
    peer.say({&c, 1});
    hand.turn();
  }
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  EXPECT_EQ(hand.stats().bytes_received, reply.size());
}

std::string streams_allowed(std::uint32_t most) {
  return net::settings(net::setting(net::kConcurrentStreams, most));
}

TEST(HttpTargetRecords, a_server_that_allows_more_streams_gets_what_waits_on_the_same_connection) {
  ByHand hand;
  hand.endpoints.http = HttpVersion::http2;
  hand.options.connections_max = 1;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  peer.say(streams_allowed(1));
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 1; }));
  hand.submit(1);
  hand.turn();
  peer.say(streams_allowed(2));
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 2; }));
  EXPECT_EQ(hand.stats().connections_opened, 1U);
}

// GOAWAY behind the first SETTINGS, and an end before them.
TEST(HttpTargetRecords, a_server_that_leaves_before_it_allows_a_stream_fails_the_query_at_once) {
  for (const bool goes : {true, false}) {
    ByHand hand;
    hand.endpoints.http = HttpVersion::http2;
    hand.submit(0);
    PlayedPeer peer = hand.accept();
    hand.turn();
    if (goes) {
      peer.say(net::settings() + net::goaway(0, 0));
    } else {
      peer.close();
    }
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
    EXPECT_EQ(hand.notes.details[0], goes ? "the server said GOAWAY before a request"
                                          : "the server closed the connection before it began "
                                            "HTTP/2");
    EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
    EXPECT_EQ(hand.stats().connections_failed, 1U);
  }
}

// The record of a connection that ended serves the other endpoint.
TEST(HttpTargetRecords, a_query_goes_to_its_endpoint_whatever_became_of_its_connections) {
  ByHand hand(2);
  hand.endpoints.http = HttpVersion::http2;
  std::vector<PlayedPeer> peers = hand.submit_to_each_endpoint();
  hand.submit(2);
  hand.submit(3);
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 4; }));
  peers[0].reset();
  ASSERT_TRUE(hand.done(2));
  peers[1].reset();
  ASSERT_TRUE(hand.done(4));
  hand.submit(4);
  PlayedPeer again = hand.accept(0);
  again.say(net::settings());
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 5; }));
  EXPECT_FALSE(hand.somebody_waits(1));
  hand.submit(5);
  EXPECT_TRUE(hand.until([&] { return hand.somebody_waits(1); }));
  EXPECT_EQ(hand.notes.sent.size(), 5U);
}

// A query's record that served a sent one is given up on as one that is not sent.
TEST(HttpTargetRecords, a_query_that_is_held_back_is_given_up_on_with_any_record) {
  ByHand hand;
  hand.endpoints.http = HttpVersion::http2;
  hand.endpoints.connect_timeout = 5_s;
  hand.datasets[0].dataset.samples[0].prompt = std::string(100'000, 'x');
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  peer.say(net::settings(net::setting(net::kInitialWindow, 200'000)) +
           net::frame(net::Http2FrameType::window_update, 0, 0, net::big_endian(100'000)));
  ASSERT_TRUE(hand.until([&] { return hand.notes.sent.size() == 1; }));
  peer.say(net::head(1) + net::data(1, R"({"choices":[]})", net::kEndStream));
  ASSERT_TRUE(hand.done(1));
  peer.say(net::settings(net::setting(net::kInitialWindow, 1'000)));
  hand.turn();
  hand.submit(1);
  hand.turn();
  peer.say(streams_allowed(0));
  hand.turn();
  hand.pass(5_s);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 2U);
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::connect_failed);
}

}  // namespace
}  // namespace assay::protocol
