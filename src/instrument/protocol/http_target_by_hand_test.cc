// HttpTarget's instants, its pool and its deadlines over HTTP/1.1, played by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

TEST(HttpTargetByHand, each_instant_is_the_one_at_which_it_happened) {
  ByHand hand;
  const Instant start = hand.clock.now();
  hand.submit(0, 4_ms);
  EXPECT_TRUE(hand.notes.sent.empty());
  hand.pass(1_ms);
  PlayedPeer peer = hand.accept();
  const std::string request = hand.request(peer);
  EXPECT_EQ(hand.notes.sent, (std::vector<Notes::Sent>{{0, start - 4_ms, start + 1_ms}}));
  hand.pass(2_ms);
  hand.turn();  // nothing has come yet
  hand.pass(3_ms);
  peer.say(stream_head());
  hand.turn();
  hand.pass(4_ms);
  peer.say(word_chunk("a"));
  hand.turn();
  hand.pass(5_ms);
  peer.say(word_chunk("b") + stop_chunk());
  hand.turn();
  hand.pass(6_ms);
  peer.say(stream_chunk("[DONE]"));
  hand.turn();
  hand.pass(7_ms);
  peer.say(kStreamEnd);
  ASSERT_TRUE(hand.done(1));
  const Event& event = hand.notes.done[0];
  EXPECT_EQ(event.outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_TRUE(event.connected);
  EXPECT_FALSE(event.kernel_stamped);
  EXPECT_EQ(event.connect_time, 1_ms);
  EXPECT_EQ(event.due, start - 4_ms);
  EXPECT_EQ(event.sent, start + 1_ms);
  EXPECT_EQ(event.sent_uncertainty, Duration{});
  EXPECT_EQ(event.first_byte, start + 6_ms);
  EXPECT_EQ(event.first_event, start + 10_ms);
  EXPECT_EQ(event.first_token, start + 10_ms);
  EXPECT_EQ(event.last_token, start + 15_ms);
  EXPECT_EQ(event.done, start + 21_ms);
  EXPECT_EQ(event.released, start + 28_ms);
  // Since the last poll, which found no bytes.
  ASSERT_EQ(hand.notes.events.size(), 4U);
  EXPECT_EQ(hand.notes.events[0].uncertainty, 4_ms);
  EXPECT_EQ(hand.notes.events[1].uncertainty, 5_ms);
  EXPECT_EQ(hand.notes.events[3].uncertainty, 6_ms);
  EXPECT_EQ(event.first_token_uncertainty, 4_ms);
  EXPECT_EQ(event.done_uncertainty, 6_ms);
  EXPECT_EQ(hand.notes.text, "ab");
  const TransportStats stats = hand.stats();
  EXPECT_EQ(stats.reads, 5U);
  EXPECT_EQ(stats.reads_stamped, 0U);
  EXPECT_EQ(stats.bytes_sent, request.size());
  EXPECT_EQ(stats.bytes_received, event.received_bytes);
  EXPECT_EQ(event.received_bytes, stream_head().size() + word_chunk("a").size() +
                                      word_chunk("b").size() + stop_chunk().size() +
                                      stream_chunk("[DONE]").size() + kStreamEnd.size());
  EXPECT_EQ(stats.connections_opened, 1U);
  EXPECT_EQ(stats.connections_peak, 1U);
  EXPECT_EQ(stats.connections_failed, 0U);
  EXPECT_EQ(stats.retransmits, 0U);
  EXPECT_GT(stats.stamp_error_max, Duration{});
}

// Between two distant polls an arrival may lie anywhere.
TEST(HttpTargetByHand, an_arrival_came_since_the_last_look_that_found_its_socket_empty) {
  ByHand hand;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  hand.pass(2_ms);
  hand.target().poll(hand.clock.now(), hand.notes);
  hand.pass(3_ms);
  peer.say(stream_head() + word_chunk("a"));
  hand.target().poll(hand.clock.now(), hand.notes);
  hand.pass(4_ms);
  peer.say(word_chunk("b"));
  hand.target().poll(hand.clock.now(), hand.notes);
  ASSERT_EQ(hand.notes.events.size(), 2U);
  EXPECT_EQ(hand.notes.events[0].uncertainty, 3_ms);
  EXPECT_EQ(hand.notes.events[1].uncertainty, 4_ms);
}

TEST(HttpTargetByHand, a_connection_is_used_again_where_the_reply_keeps_it) {
  struct Played {
    std::string reply;
    bool kept;
  };
  for (const Played& c : std::vector<Played>{
           {plain_reply(), true},
           {stream_head() + stop_chunk() + std::string(kStreamEnd), true},
           {"HTTP/1.1 500 X\r\nContent-Length: 1\r\n\r\nx", true},
           {plain_reply("Connection: close\r\n"), false},
           {"HTTP/1.0" + plain_reply().substr(8), false},
           {plain_reply() + "x", false},
           {"garbage\r\n\r\n", false},
       }) {
    ByHand hand;
    PlayedPeer peer;
    hand.exchange(peer, 0, c.reply);
    EXPECT_EQ(peer.closed(), !c.kept) << c.reply;
    EXPECT_TRUE(hand.notes.done[0].connected);
    PlayedPeer other;
    hand.exchange(c.kept ? peer : other, 1, c.reply);
    EXPECT_EQ(hand.notes.done[1].connected, !c.kept);
    EXPECT_EQ(hand.stats().connections_opened, c.kept ? 1U : 2U);
    EXPECT_EQ(hand.target().in_flight(), 0U);
    EXPECT_EQ(hand.stats().queries_sent_again, 0U);
  }
}

TEST(HttpTargetByHand, what_nobody_asked_for_costs_the_connection_and_no_query) {
  ByHand hand;
  PlayedPeer peer;
  hand.exchange(peer, 0, plain_reply());
  peer.say(plain_reply("", "late"));
  EXPECT_TRUE(hand.until([&] { return peer.closed(); }));
  PlayedPeer other;
  hand.exchange(other, 1, plain_reply());
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
  EXPECT_TRUE(hand.notes.done[1].connected);
  EXPECT_EQ(hand.notes.text, "hihi");
  EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
}

TEST(HttpTargetByHand, the_connection_used_last_is_used_first) {
  ByHand hand;
  hand.submit(0);
  PlayedPeer one = hand.accept();
  hand.request(one);
  hand.submit(1);
  PlayedPeer two = hand.accept();
  hand.request(two);
  two.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  one.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  hand.submit(2);
  EXPECT_FALSE(hand.request(one).empty());
  hand.submit(3);
  EXPECT_FALSE(hand.request(two).empty());
  EXPECT_EQ(hand.stats().connections_peak, 2U);
}

// A server that closes within half a second of its reply did not time out while it waited.
TEST(HttpTargetByHand, a_server_that_closes_at_once_behind_a_reply_is_used_once_a_connection) {
  for (const Duration after : {Duration{}, 499'999'999_ns, 500_ms}) {
    const bool at_once = after < 500_ms;
    ByHand hand;
    PlayedPeer first;
    hand.exchange(first, 0, plain_reply());
    hand.pass(after);
    first.close();
    EXPECT_TRUE(hand.until([&] { return hand.stats().connections_lost_idle == 1; }));
    PlayedPeer second;
    hand.exchange(second, 1, plain_reply());
    EXPECT_EQ(second.closed(), at_once) << after.ns;
    PlayedPeer third;
    hand.exchange(at_once ? third : second, 2, plain_reply());
    EXPECT_EQ(hand.notes.done[2].connected, at_once);
    EXPECT_EQ(hand.stats().queries_sent_again, 0U);
  }
}

TEST(HttpTargetByHand, where_a_second_reply_came_on_one_connection_keeping_is_proven) {
  ByHand hand;
  PlayedPeer first;
  hand.exchange(first, 0, plain_reply());
  hand.exchange(first, 1, plain_reply());
  first.close();
  EXPECT_TRUE(hand.until([&] { return hand.stats().connections_lost_idle == 1; }));
  PlayedPeer second;
  hand.exchange(second, 2, plain_reply());
  EXPECT_FALSE(second.closed());
  // From here on, an end in the middle of a query is the server's fault.
  hand.submit(3);
  hand.request(second);
  second.close();
  ASSERT_TRUE(hand.done(4));
  EXPECT_EQ(hand.notes.done[3].outcome, Outcome::truncated);
  EXPECT_EQ(hand.notes.details[3], "the connection was closed before a reply");
  EXPECT_EQ(hand.stats().queries_sent_again, 0U);
}

TEST(HttpTargetByHand, a_connection_that_was_never_used_says_nothing_of_the_server) {
  ByHand hand;
  ASSERT_TRUE(hand.target().connect_ahead(1));
  PlayedPeer unused = hand.accept();
  unused.close();
  EXPECT_TRUE(hand.until([&] { return hand.stats().connections_lost_idle == 1; }));
  PlayedPeer peer;
  hand.exchange(peer, 0, plain_reply());
  hand.exchange(peer, 1, plain_reply());
  EXPECT_FALSE(hand.notes.done[1].connected);
}

TEST(HttpTargetByHand, a_query_that_crosses_with_the_end_goes_out_again_and_its_time_counts_on) {
  for (const bool reset : {false, true}) {
    ByHand hand;
    PlayedPeer first;
    hand.exchange(first, 0, plain_reply());
    const Instant start = hand.clock.now();
    hand.submit(1, 1_ms);
    hand.request(first);
    hand.pass(3_ms);
    reset ? first.reset() : first.close();
    hand.pass(2_ms);
    PlayedPeer second = hand.accept();
    EXPECT_FALSE(hand.request(second).empty());
    hand.pass(1_ms);
    second.say(plain_reply());
    ASSERT_TRUE(hand.done(2));
    const Event& event = hand.notes.done[1];
    EXPECT_EQ(event.outcome, Outcome::ok);
    EXPECT_EQ(event.sent, start);
    EXPECT_EQ(event.due, start - 1_ms);
    EXPECT_EQ(event.done, start + 6_ms);
    EXPECT_TRUE(event.connected);
    EXPECT_EQ(hand.notes.sent.size(), 2U);  // reported once a query
    EXPECT_EQ(hand.stats().queries_sent_again, 1U);
    EXPECT_TRUE(second.closed());  // and none is kept from now on
    EXPECT_EQ(hand.target().in_flight(), 0U);
  }
}

TEST(HttpTargetByHand, nothing_goes_out_again_that_may_have_been_answered) {
  struct Played {
    bool reused;
    std::string said;
    bool reset;
    Outcome outcome;
    std::string words;
  };
  for (const Played& c : std::vector<Played>{
           {false, "", false, Outcome::truncated, "the connection was closed before a reply"},
           {false, "", true, Outcome::reset, "Connection reset by peer"},
           {true, "HTTP/1.1 200", false, Outcome::truncated,
            "the connection was closed inside the response head"},
           {true, stream_head() + word_chunk("a"), true, Outcome::reset,
            "Connection reset by peer"},
           {false, "SSH-", false, Outcome::bad_reply, "this port speaks SSH"},
           {false, "SM", false, Outcome::bad_reply,
            "the reply does not begin with an HTTP/1.x status line"}}) {
    ByHand hand;
    PlayedPeer peer;
    if (c.reused) hand.exchange(peer, 0, plain_reply());
    const std::size_t before = hand.notes.done.size();
    hand.submit(7);
    if (!c.reused) peer = hand.accept();
    hand.request(peer);
    if (!c.said.empty()) peer.say(c.said);
    hand.turn();
    if (peer.fd() >= 0) c.reset ? peer.reset() : peer.close();
    ASSERT_TRUE(hand.done(before + 1));
    EXPECT_EQ(to_string(hand.notes.done.back().outcome), to_string(c.outcome)) << c.said;
    EXPECT_EQ(hand.notes.details.back(), c.words);
    EXPECT_EQ(hand.stats().queries_sent_again, 0U);
    EXPECT_EQ(hand.target().in_flight(), 0U);
  }
}

TEST(HttpTargetByHand, a_body_that_only_the_end_ends_is_whole_by_it) {
  ByHand hand;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  peer.say(
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"choices\":[{\"delta\":"
      "{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n");
  hand.turn();
  EXPECT_EQ(hand.target().in_flight(), 1U);
  hand.pass(5_ms);
  peer.close();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  EXPECT_EQ(hand.notes.done[0].done, hand.clock.now());
}

TEST(HttpTargetByHand, an_idle_connection_is_used_up_to_its_age_and_no_longer) {
  ByHand hand;
  hand.endpoints.idle_connection_max = 2_s;
  PlayedPeer first;
  hand.exchange(first, 0, plain_reply());
  hand.pass(2_s);
  hand.turn();
  hand.exchange(first, 1, plain_reply());
  EXPECT_FALSE(hand.notes.done[1].connected);
  hand.pass(2_s + 1_ns);
  hand.turn();
  PlayedPeer second;
  hand.exchange(second, 2, plain_reply());
  EXPECT_TRUE(hand.notes.done[2].connected);
  EXPECT_TRUE(first.closed());
  EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
}

TEST(HttpTargetByHand, a_query_times_out_at_its_instant) {
  ByHand hand;
  hand.endpoints.query_timeout = 30_s;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  const Instant sent = hand.notes.sent[0].at;
  hand.pass(1_s);
  hand.submit(1);  // and has a second more
  PlayedPeer other = hand.accept();
  hand.request(other);
  hand.clock.sleep_until(sent + 30_s - 1_ns);
  hand.turn();
  EXPECT_EQ(hand.target().in_flight(), 2U);
  hand.pass(1_ns);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::timed_out);
  EXPECT_EQ(hand.notes.details[0], "no complete reply within 30.0 s");
  EXPECT_EQ(hand.notes.done[0].done, sent + 30_s);
  EXPECT_TRUE(peer.closed());
  EXPECT_FALSE(other.closed());
  other.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
  // The deadline of an ended query does not affect the next one on its connection.
  hand.submit(2);
  hand.request(other);
  hand.clock.sleep_until(sent + 31_s);
  hand.turn();
  EXPECT_EQ(hand.target().in_flight(), 1U);
  hand.pass(30_s);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 3U);
}

// The first try's deadline is over with it, also where its record serves another query by then.
TEST(HttpTargetByHand, a_query_that_went_out_again_has_one_time_out_and_one_end) {
  ByHand hand;
  hand.endpoints.query_timeout = 30_s;
  PlayedPeer first;
  hand.exchange(first, 0, plain_reply());
  hand.submit(1);
  hand.request(first);
  hand.pass(20_s);
  first.close();
  PlayedPeer second = hand.accept();
  EXPECT_FALSE(hand.request(second).empty());
  hand.pass(15_s);
  hand.turn();
  EXPECT_EQ(hand.target().in_flight(), 1U);
  EXPECT_EQ(hand.notes.done.size(), 1U);
  second.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
  hand.pass(60_s);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 2U);
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

TEST(HttpTargetByHand, a_query_that_ended_with_its_connection_does_not_time_out_later) {
  ByHand hand;
  hand.endpoints.query_timeout = 30_s;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  peer.close();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::truncated);
  hand.pass(31_s);
  hand.turn();
  EXPECT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

TEST(HttpTargetByHand, each_query_has_its_own_wait_for_the_end_of_its_body) {
  ByHand hand;
  for (std::uint32_t i = 0; i < 3; ++i) {
    hand.submit(i);
    PlayedPeer peer = hand.accept();
    hand.request(peer);
    peer.say(stream_head() + word_chunk("a") + stream_chunk("[DONE]"));
    hand.turn();
    hand.pass(249_ms);
    hand.turn();
    EXPECT_EQ(hand.target().in_flight(), 1U);
    hand.pass(1_ms);
    hand.turn();
    ASSERT_EQ(hand.notes.done.size(), i + 1);
    EXPECT_EQ(hand.notes.done[i].outcome, Outcome::ok);
  }
}

// Only framing is missing: a server that holds it back loses the connection, not the query.
TEST(HttpTargetByHand, the_end_of_a_body_is_awaited_for_a_quarter_of_a_second) {
  ByHand hand;
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  peer.say(stream_head() + word_chunk("a") + stream_chunk("[DONE]"));
  hand.turn();
  const Instant marker = hand.clock.now();
  hand.pass(100_ms);
  peer.say(stream_chunk("{}"));  // does not move it
  hand.turn();
  hand.clock.sleep_until(marker + 250_ms - 1_ns);
  hand.turn();
  EXPECT_EQ(hand.target().in_flight(), 1U);
  hand.pass(1_ns);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  EXPECT_EQ(hand.notes.done[0].done, marker);
  EXPECT_EQ(hand.notes.done[0].released, marker + 250_ms);
  EXPECT_TRUE(peer.closed());
}

TEST(HttpTargetByHand, the_words_of_a_failure_are_awaited_for_a_second) {
  for (const std::string& begun : {std::string("HTTP/1.1 500 X\r\nContent-Length: 100\r\n\r\nboom"),
                                   stream_head() + stream_chunk(R"({"error":"boom"})")}) {
    ByHand hand;
    hand.submit(0);
    PlayedPeer peer = hand.accept();
    hand.request(peer);
    peer.say(begun);
    hand.turn();
    const Instant failed = hand.clock.now();
    hand.clock.sleep_until(failed + 1_s - 1_ns);
    hand.turn();
    EXPECT_EQ(hand.target().in_flight(), 1U);
    hand.pass(1_ns);
    hand.turn();
    ASSERT_EQ(hand.notes.done.size(), 1U);
    EXPECT_THAT(hand.notes.details[0], HasSubstr("boom"));
    EXPECT_EQ(hand.notes.done[0].done, failed + 1_s);
    EXPECT_TRUE(peer.closed());
  }
}

// Each deadline ends a wait that no other event would end.
TEST(HttpTargetByHand, a_wait_ends_with_the_first_deadline) {
  const auto wait = [](ByHand& hand) {
    hand.target().poll(Instant::max(), hand.notes);
    hand.pass(1_s);
    hand.turn();
    EXPECT_EQ(hand.notes.done.size(), 1U);
  };
  ByHand query;
  query.endpoints.query_timeout = 1_s;
  query.submit(0);
  PlayedPeer peer = query.accept();
  query.request(peer);
  query.pass(999_ms);
  wait(query);

  ByHand framing;
  framing.submit(0);
  peer = framing.accept();
  framing.request(peer);
  peer.say(stream_head() + word_chunk("a") + stream_chunk("[DONE]"));
  framing.turn();
  framing.pass(249_ms);
  wait(framing);

  ByHand failed;
  failed.submit(0);
  peer = failed.accept();
  failed.request(peer);
  peer.say("HTTP/1.1 500 X\r\n\r\n");
  failed.turn();
  failed.pass(999_ms);
  wait(failed);

  ByHand refused;
  refused.listeners.clear();
  refused.target();
  refused.endpoints.urls.clear();
  refused.submit(0);
  refused.target().poll(Instant::max(), refused.notes);
  refused.turn();
  EXPECT_EQ(refused.notes.done.size(), 1U);
}

TEST(HttpTargetByHand, a_unix_socket_is_an_endpoint_too) {
  const std::string path =
      (std::filesystem::temp_directory_path() / format("assay_by_hand_{}.sock", ::getpid()))
          .string();
  ByHand hand;
  hand.listeners.clear();
  hand.listeners.push_back(net::listen_on(net::Address::unix_path(path).value(), {}).value());
  hand.endpoints.urls = {"http+unix://" + path + ":/v1"};
  hand.options.kernel_stamps = true;  // there are none
  PlayedPeer peer;
  hand.exchange(peer, 0, plain_reply());
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_FALSE(hand.notes.done[0].kernel_stamped);
  std::filesystem::remove(path);
}

TEST(HttpTargetByHand, what_cannot_be_an_endpoint_is_refused_when_the_target_is_made) {
  const auto refusal_of = [](std::vector<std::string> urls) {
    ByHand hand;
    hand.endpoints.urls = std::move(urls);
    const auto made =
        HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, hand.clock);
    return made ? "made" : made.error().message;
  };
  EXPECT_THAT(refusal_of({}), HasSubstr("no endpoint"));
  EXPECT_THAT(refusal_of({"http://h:0"}), HasSubstr("port"));
  const std::string no_name = "http://" + std::string(64, 'h') + ":1";  // 63 are the most
  EXPECT_THAT(refusal_of({no_name}), HasSubstr("cannot reach '" + no_name + "/': host 'hhh"));
  ByHand hand;
  hand.options.connections_max = 0;
  EXPECT_EQ(hand.stats().connections_max + 256, net::raise_descriptor_limit());
}

// The kernel's stamp shows when it came: a reply that came before its request is no reply.
TEST(HttpTargetByHand, a_reply_that_came_before_the_request_is_no_reply) {
  bool seen = false;
  // The kernel may switch stamps on a moment after the call: the first bytes may have none.
  for (int attempt = 0; attempt < 20'000 && !seen; ++attempt) {
    ByHand hand;
    hand.options.kernel_stamps = true;
    OsClock clock;
    auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
    ASSERT_TRUE(target);
    ASSERT_TRUE((*target)->connect_ahead(1));
    PlayedPeer peer = PlayedPeer(net::accept_one(hand.listeners[0]).value());
    peer.say(plain_reply());
    (*target)->submit({}, clock.now(), hand.notes);
    while ((*target)->in_flight() > 0) (*target)->poll(clock.now() + 1_s, hand.notes);
    const Event& event = hand.notes.done[0];
    seen = event.outcome == Outcome::bad_reply;
    if (!seen) continue;
    EXPECT_EQ(hand.notes.details[0], "the reply came before the request was sent");
    EXPECT_TRUE(peer.closed());
    EXPECT_EQ(event.received_bytes, plain_reply().size());
    EXPECT_EQ((*target)->stats().reads_stamped, 1U);
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace assay::protocol
