// HttpTarget's pool, its sending and its share of receiving over HTTP/1.1, played by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <malloc.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "protocol/http_target_state.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

using testing::HasSubstr;

TEST(HttpTargetPool, queries_beyond_the_connections_wait_in_their_order) {
  ByHand hand;
  hand.options.connections_max = 2;
  EXPECT_EQ(hand.stats().connections_max, 2U);
  for (std::uint32_t i = 0; i < 5; ++i) hand.submit(i);
  PlayedPeer one = hand.accept();
  PlayedPeer two = hand.accept();
  hand.request(one);
  hand.request(two);
  EXPECT_FALSE(hand.somebody_waits());
  EXPECT_EQ(hand.stats().queued_for_connection, 3U);
  EXPECT_EQ(hand.stats().connections_peak, 2U);
  hand.pass(1_ms);
  two.say(plain_reply());
  hand.request(two);
  hand.pass(1_ms);
  one.say(plain_reply());
  hand.request(one);
  two.say(plain_reply());
  hand.request(two);
  one.say(plain_reply());
  two.say(plain_reply());
  ASSERT_TRUE(hand.done(5));
  std::vector<std::uint32_t> order;
  for (const Notes::Sent& sent : hand.notes.sent) order.push_back(sent.index);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{0, 1, 2, 3, 4}));
  EXPECT_FALSE(hand.notes.done[2].connected);
  EXPECT_EQ(hand.stats().connections_opened, 2U);
}

TEST(HttpTargetPool, endpoints_take_turns_and_an_idle_connection_of_another_makes_room) {
  ByHand hand(2);
  hand.options.connections_max = 1;
  hand.submit(0);
  PlayedPeer a = hand.accept(0);
  hand.request(a);
  a.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  hand.submit(1);
  PlayedPeer b = hand.accept(1);
  EXPECT_TRUE(a.closed());
  hand.request(b);
  hand.submit(2);  // no connection is idle: it waits
  hand.turn();
  EXPECT_FALSE(hand.somebody_waits(0));
  EXPECT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.stats().connections_peak, 1U);
  hand.target().cancel_all(hand.notes);
  ASSERT_EQ(hand.notes.done.size(), 3U);
  std::vector<int> asked;
  for (const Event& event : hand.notes.done) asked.push_back(event.endpoint);
  std::sort(asked.begin(), asked.end());
  EXPECT_EQ(asked, (std::vector<int>{0, 0, 1}));
}

TEST(HttpTargetPool, a_cancelled_query_says_how_far_it_was) {
  ByHand hand;
  hand.options.connections_max = 1;
  const Instant start = hand.clock.now();
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  hand.submit(1, 2_ms);
  hand.pass(5_ms);
  hand.target().cancel_all(hand.notes);
  ASSERT_EQ(hand.notes.done.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const Event& event = hand.notes.done[i];
    EXPECT_EQ(event.outcome, Outcome::cancelled);
    EXPECT_EQ(event.done, start + 5_ms);
    EXPECT_EQ(hand.notes.details[i],
              event.query.index == 0 ? "cancelled by us" : "cancelled before it was sent");
    EXPECT_EQ(event.sent.known(), event.query.index == 0);
    EXPECT_EQ(event.due, event.query.index == 0 ? start : start - 2_ms);
  }
  EXPECT_TRUE(peer.closed());
  EXPECT_EQ(hand.target().in_flight(), 0U);
  PlayedPeer next;
  hand.exchange(next, 2, plain_reply());
  EXPECT_EQ(hand.notes.done[2].outcome, Outcome::ok);
  EXPECT_EQ(hand.notes.done[2].query.index, 2U) << "the cancelled ones are not sent later";
  EXPECT_EQ(hand.notes.sent.size(), 2U);
}

// More than the kernel takes at once: the rest goes out while the peer reads.
TEST(HttpTargetPool, a_large_request_is_sent_when_its_last_byte_is) {
  for (const bool session : {false, true}) {  // in one piece, and in several
    ByHand hand;
    Sample& sample = hand.datasets[0].dataset.samples[0];
    sample.prompt = std::string(ByHand::kLargeBytes, 'x');
    if (session) {
      hand.plan.phases.push_back(hand.plan.phases[0]);
      hand.plan.phases[0].salted = true;
    }
    const Instant start = hand.clock.now();
    hand.submit(0);
    PlayedPeer peer = hand.accept();
    hand.turn();
    EXPECT_TRUE(hand.notes.sent.empty());
    hand.pass(3_ms);
    const std::string request = hand.request(peer);
    EXPECT_THAT(request, HasSubstr(sample.prompt));
    EXPECT_THAT(request.substr(request.size() - 300), HasSubstr("max_completion_tokens"));
    ASSERT_TRUE(hand.until([&] { return !hand.notes.sent.empty(); }));
    EXPECT_EQ(hand.notes.sent[0].at, start + 3_ms);
    EXPECT_EQ(hand.stats().bytes_sent, request.size());
    peer.say(plain_reply());
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(hand.notes.done[0].sent, start + 3_ms);
    hand.exchange(peer, 1, plain_reply());  // and the connection can be used again
    EXPECT_EQ(hand.notes.sent.size(), 2U);
  }
}

TEST(HttpTargetPool, an_answer_to_half_a_request_is_heard_and_costs_the_connection) {
  for (const bool closes : {false, true}) {
    ByHand hand;
    hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
    hand.submit(0);
    PlayedPeer peer = hand.accept();
    hand.turn();
    peer.say("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge");
    if (closes) peer.close();
    ASSERT_TRUE(hand.done(1));
    EXPECT_EQ(hand.notes.done[0].outcome, Outcome::http_error);
    EXPECT_EQ(hand.notes.details[0], "HTTP 413: large");
    EXPECT_TRUE(hand.notes.sent.empty());
    hand.submit(1);
    EXPECT_TRUE(hand.until([&] { return hand.somebody_waits(); }));
  }
}

TEST(HttpTargetPool,
     a_peer_that_goes_while_it_is_sent_to_is_a_failure_that_is_told_at_the_next_poll) {
  ByHand hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.turn();
  peer.reset();
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::reset);
  EXPECT_EQ(hand.notes.details[0], "Connection reset by peer");
  EXPECT_EQ(hand.target().in_flight(), 0U);
}

TEST(HttpTargetPool, nobody_listening_fails_each_query_once_and_leaves_nothing_behind) {
  ByHand hand;
  hand.listeners.clear();
  for (std::uint32_t i = 0; i < 3; ++i) hand.submit(i);
  ASSERT_TRUE(hand.done(3));
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(hand.notes.done[i].outcome, Outcome::connect_failed);
    EXPECT_THAT(hand.notes.details[i], HasSubstr("Connection refused"));
    EXPECT_EQ(hand.notes.done[i].query.index, i);
    EXPECT_FALSE(hand.notes.done[i].sent.known());
  }
  EXPECT_EQ(hand.stats().connections_failed, 3U);
  const auto ahead = hand.target().connect_ahead(2);
  ASSERT_FALSE(ahead);
  EXPECT_EQ(ahead.error().code, Code::refused);
  EXPECT_THAT(ahead.error().message,
              testing::StartsWith("cannot reach '" + hand.endpoints.urls[0]));
  EXPECT_THAT(ahead.error().message, HasSubstr("is the server running"));
}

TEST(HttpTargetPool, connections_made_ahead_are_spread_over_the_endpoints) {
  for (const auto& [count, each] : {std::pair{0U, 1U}, {1U, 1U}, {2U, 1U}, {3U, 2U}, {6U, 3U}}) {
    ByHand hand(2);
    ASSERT_TRUE(hand.target().connect_ahead(count));
    EXPECT_EQ(hand.stats().connections_opened, 2 * each) << count;
    ASSERT_TRUE(hand.target().connect_ahead(count));  // they are there
    EXPECT_EQ(hand.stats().connections_opened, 2 * each);
    hand.submit(0);
    EXPECT_EQ(hand.notes.sent.size(), 1U);  // at once
    EXPECT_EQ(hand.stats().queued_for_connection, 0U);
    hand.target().cancel_all(hand.notes);
    EXPECT_TRUE(hand.notes.done[0].connected);  // it was opened for this one
    EXPECT_EQ(hand.notes.done[0].connect_time, Duration{});
  }
  ByHand few;
  few.options.connections_max = 2;
  ASSERT_TRUE(few.target().connect_ahead(9));
  EXPECT_EQ(few.stats().connections_opened, 2U);
}

TEST(HttpTargetPool, every_endpoint_is_reached_ahead_with_fewer_connections_than_endpoints) {
  ByHand hand(3);
  hand.options.connections_max = 1;
  const auto ahead = hand.target().connect_ahead(3);
  ASSERT_TRUE(ahead) << ahead.error().message;
  EXPECT_EQ(hand.stats().connections_opened, 3U);
  EXPECT_EQ(hand.stats().connections_peak, 1U);
}

TEST(HttpTargetPool, a_sender_that_is_behind_still_hears_a_share_of_what_comes) {
  ByHand hand;
  constexpr std::uint32_t kPeers = 20;
  std::vector<PlayedPeer> peers = hand.submit_each(kPeers);
  for (PlayedPeer& peer : peers) peer.say(stream_head());
  hand.target().poll(hand.clock.now(), hand.notes);
  EXPECT_EQ(hand.stats().reads, 8U);
  hand.target().poll(hand.clock.now(), hand.notes);
  EXPECT_EQ(hand.stats().reads, 16U);
  hand.target().poll(hand.clock.now(), hand.notes);
  EXPECT_EQ(hand.stats().reads, 20U);
  // With enough time, all available bytes.
  for (PlayedPeer& peer : peers) peer.say(word_chunk("a"));
  hand.target().poll(hand.clock.now() + 1_s, hand.notes);
  EXPECT_EQ(hand.stats().reads, 40U);
  EXPECT_EQ(hand.notes.text, std::string(kPeers, 'a'));
}

TEST(HttpTargetPool, as_many_as_the_list_of_what_is_ready_holds_are_heard_at_once) {
  ByHand hand;
  std::vector<PlayedPeer> peers = hand.submit_each(150);
  for (PlayedPeer& peer : peers) peer.say(plain_reply());
  hand.target().poll(hand.clock.now() + 1_s, hand.notes);
  EXPECT_EQ(hand.notes.done.size(), 128U);
  hand.target().poll(hand.clock.now() + 1_s, hand.notes);
  EXPECT_EQ(hand.notes.done.size(), 150U);
  for (const Event& event : hand.notes.done) EXPECT_EQ(event.outcome, Outcome::ok);
}

TEST(HttpTargetPool, descriptors_are_kept_for_other_things) {
  EXPECT_EQ(connections_max_of(10'000, 0), 10'000U - 256);
  EXPECT_EQ(connections_max_of(512, 0), 256U);
  EXPECT_EQ(connections_max_of(514, 0), 258U);
  EXPECT_EQ(connections_max_of(101, 0), 51U);
  EXPECT_EQ(connections_max_of(10'000, 1), 1U);
  EXPECT_EQ(connections_max_of(10'000, 9'744), 9'744U);
  EXPECT_EQ(connections_max_of(10'000, 9'745), 9'744U);
}

// Both ends of a connection take a request of several pieces at once.
TEST(HttpTargetPool, a_request_in_pieces_goes_out_at_once) {
  for (const std::size_t bytes : {10U, 5'000U}) {
    ByHand hand;
    hand.datasets[0].dataset.samples[0].prompt = std::string(bytes, 'x');
    ASSERT_TRUE(hand.target().connect_ahead(1));
    PlayedPeer peer = hand.accept();
    hand.submit(0);
    EXPECT_EQ(hand.notes.sent.size(), 1U);
    EXPECT_THAT(hand.request(peer), HasSubstr(hand.datasets[0].dataset.samples[0].prompt));
    EXPECT_FALSE(hand.somebody_waits());
  }
}

// The end came, and the target had not read it yet.
TEST(HttpTargetPool,
     a_connection_that_is_found_broken_when_it_is_sent_to_costs_no_query_or_fails_it) {
  for (const bool proven : {false, true}) {
    ByHand hand;
    PlayedPeer peer;
    hand.exchange(peer, 0, plain_reply());
    if (proven) hand.exchange(peer, 1, plain_reply());
    const std::size_t before = hand.notes.done.size();
    peer.reset();
    hand.submit(7, 1_ms);
    EXPECT_EQ(hand.notes.done.size(), before);  // submit() ends nothing
    EXPECT_EQ(hand.target().in_flight(), 1U);
    if (proven) {
      const Instant due = hand.clock.now() - 1_ms;
      hand.pass(2_ms);
      hand.target().poll(Instant::max(),
                         hand.notes);  // an event waits to be reported: it does not wait
      ASSERT_TRUE(hand.done(before + 1));
      EXPECT_EQ(hand.notes.done.back().outcome, Outcome::reset);
      EXPECT_EQ(hand.notes.details.back(), "cannot send: Connection reset by peer");
      EXPECT_EQ(hand.notes.done.back().due, due);
      EXPECT_EQ(hand.notes.done.back().done, due + 1_ms);
      hand.turn();  // and the connection is already closed
      EXPECT_EQ(hand.stats().connections_lost_idle, 0U);
      EXPECT_EQ(hand.stats().queries_sent_again, 0U);
    } else {
      PlayedPeer next = hand.accept();
      EXPECT_FALSE(hand.request(next).empty());
      next.say(plain_reply());
      ASSERT_TRUE(hand.done(before + 1));
      EXPECT_EQ(hand.notes.done.back().outcome, Outcome::ok);
      EXPECT_EQ(hand.stats().queries_sent_again, 1U);
    }
    EXPECT_EQ(hand.target().in_flight(), 0U);
  }
}

// A connection's record is reused: no unsent bytes are left in it.
TEST(HttpTargetPool, what_a_broken_connection_had_to_send_is_not_sent_on_the_next) {
  ByHand hand;
  hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.turn();
  hand.target().cancel_all(hand.notes);
  EXPECT_TRUE(hand.notes.sent.empty());
  hand.submit(1);
  PlayedPeer next = hand.accept();
  const std::string request = hand.request(next);
  EXPECT_TRUE(request.starts_with("POST /v1/chat/completions"));
  next.say(plain_reply());
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::ok);
  EXPECT_EQ(hand.notes.sent.size(), 1U);
  EXPECT_TRUE(next.heard.empty());
}

// More connects at once would overflow a listener's queue.
TEST(HttpTargetPool, connects_in_progress_are_bounded) {
  ByHand hand;
  for (std::uint32_t i = 0; i < 300; ++i) hand.submit(i);
  EXPECT_EQ(hand.stats().connections_opened, 256U);
  EXPECT_TRUE(hand.until([&] { return hand.notes.sent.size() == 300; }));
  EXPECT_EQ(hand.stats().connections_opened, 300U);
  EXPECT_EQ(hand.stats().connections_peak, 300U);
  hand.target().cancel_all(hand.notes);
  EXPECT_EQ(hand.notes.done.size(), 300U);
  ByHand ahead;
  ASSERT_TRUE(ahead.target().connect_ahead(300));
  EXPECT_EQ(ahead.stats().connections_opened, 300U);
}

// The records of ended connections and queries are reused, each once.
TEST(HttpTargetPool, queries_at_once_never_share_a_record) {
  ByHand hand;
  for (std::uint32_t round = 0; round < 3; ++round) {
    std::vector<PlayedPeer> peers;
    for (std::uint32_t i = 0; i < 3; ++i) {
      hand.submit(3 * round + i);
      peers.push_back(hand.accept());
      EXPECT_FALSE(hand.request(peers.back()).empty());
    }
    for (std::size_t i = 0; i < 3; ++i) {
      peers[i].say(plain_reply("Connection: close\r\n", std::string(i + 1, 'x')));
      ASSERT_TRUE(hand.done(3 * round + i + 1));
      EXPECT_EQ(hand.notes.done.back().query.index, 3 * round + i);
      EXPECT_EQ(hand.notes.done.back().output_bytes, i + 1);
    }
  }
  EXPECT_EQ(hand.stats().connections_opened, 9U);
  EXPECT_EQ(hand.stats().connections_peak, 3U);
}

// A name may have an address without a listener, and one with a listener.
TEST(HttpTargetPool, each_address_of_a_name_is_tried) {
  ByHand hand;
  const std::uint16_t port = net::local_address(hand.listeners[0])->port();
  hand.endpoints.urls = {format("http://localhost:{}", port)};
  const auto addresses = net::resolve("localhost", port).value();
  std::uint64_t refused = 0;
  while (refused < addresses.size() && addresses[refused].is_ipv6()) ++refused;
  ASSERT_LT(refused, addresses.size());
  ASSERT_TRUE(hand.target().connect_ahead(1));
  EXPECT_EQ(hand.stats().connections_failed, refused);
  PlayedPeer peer = hand.accept();
  hand.exchange(peer, 0, plain_reply());
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok);
  hand.listeners.clear();
  peer.close();
  EXPECT_TRUE(hand.until([&] { return hand.stats().connections_lost_idle == 1; }));
  hand.submit(1);
  ASSERT_TRUE(hand.done(2));
  EXPECT_EQ(hand.notes.done[1].outcome, Outcome::connect_failed);
}

TEST(HttpTargetPool, the_addresses_of_a_name_are_tried_in_their_order_and_then_from_the_first) {
  Destination three;
  for (const char* const text : {"127.0.0.1", "127.0.0.2", "127.0.0.3"}) {
    three.addresses.push_back(*net::Address::numeric(text, 1));
  }
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(three.address_next, 0U);
    EXPECT_TRUE(three.try_next_address());
    EXPECT_EQ(three.address_next, 1U);
    EXPECT_TRUE(three.try_next_address());
    EXPECT_EQ(three.address_next, 2U);
    EXPECT_FALSE(three.try_next_address());
  }
  Destination one;
  one.addresses.push_back(*net::Address::numeric("::1", 1));
  EXPECT_FALSE(one.try_next_address());
  EXPECT_EQ(one.address_next, 0U);
}

// What the heap holds is counted by the C library, without sanitizers.
TEST(HttpTargetPool, a_run_of_many_connections_holds_the_memory_of_those_at_once) {
  ByHand hand;
  const auto ask = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      PlayedPeer peer;
      hand.exchange(peer, i, plain_reply("Connection: close\r\n"));
      hand.pass(3600_s);  // no deadline is left
      hand.turn();
      hand.notes = {};
    }
  };
  ask(20);
  const std::size_t before = ::mallinfo2().uordblks;
  ask(100);
  EXPECT_LT(::mallinfo2().uordblks, before + 50 * sizeof(Connection));
}

// The peer's kernel drops what comes until the request was on its way.
TEST(HttpTargetPool, segments_that_went_out_again_are_counted_when_their_connection_ends) {
  ByHand hand;
  ASSERT_TRUE(hand.target().connect_ahead(1));
  PlayedPeer peer = hand.accept();
  EXPECT_EQ(hand.stats().retransmits, 0U);
  sock_filter drop{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog all{1, &drop};
  ASSERT_EQ(::setsockopt(peer.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &all, sizeof all), 0);
  hand.submit(0);
  hand.turn();
  ASSERT_EQ(::setsockopt(peer.fd(), SOL_SOCKET, SO_DETACH_FILTER, &drop, sizeof drop), 0);
  hand.request(peer);
  peer.say(plain_reply("Connection: close\r\n"));
  ASSERT_TRUE(hand.done(1));
  EXPECT_GE(hand.stats().retransmits, 1U);
  EXPECT_LT(hand.stats().retransmits, 100U);
}

TEST(HttpTargetPool, a_wait_that_a_signal_cuts_short_is_counted_with_its_time) {
  struct sigaction before {};
  struct sigaction quiet {};
  quiet.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &quiet, &before), 0);
  ByHand hand;
  TickingClock clock;
  auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
  ASSERT_TRUE(target);
  std::atomic<bool> back{false};
  const pthread_t waiting = ::pthread_self();
  std::thread signals([&] {
    while (!back) {
      ::pthread_kill(waiting, SIGUSR1);
      std::this_thread::yield();
    }
  });
  // The signal may come between two waits, and then counts for none.
  while ((*target)->stats().waits_interrupted < 3) (*target)->poll(Instant::max(), hand.notes);
  back = true;
  signals.join();
  EXPECT_EQ((*target)->stats().waits_interrupted, 3U);
  EXPECT_GE((*target)->stats().interrupted_for, TickingClock::kTick * 3);
  EXPECT_LT((*target)->stats().interrupted_for, 3600_s);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST(HttpTargetPool, queries_that_find_no_server_fail_each_with_its_own_instant) {
  ByHand hand;
  hand.target();
  hand.listeners[0].reset();
  const Instant now = hand.clock.now();
  hand.submit(0, 7_ms);
  hand.submit(1, 3_ms);
  ASSERT_TRUE(hand.done(2));
  for (const Event& event : hand.notes.done) {
    EXPECT_EQ(event.outcome, Outcome::connect_failed);
    EXPECT_EQ(event.due, now - (event.query.index == 0 ? 7_ms : 3_ms)) << event.query.index;
  }
}

TEST(HttpTargetPool, a_request_that_was_made_late_is_counted) {
  ByHand hand;
  Dataset& dataset = hand.datasets[0].dataset;
  dataset.samples.clear();
  dataset.made_rows = 1'000'000;
  dataset.slow_rows = true;
  dataset.make_row = [](std::uint32_t) { return Sample{.prompt = "made in the run"}; };
  hand.submit(500'000);  // far behind those that are made ahead
  PlayedPeer peer = hand.accept();
  hand.request(peer);
  peer.say(plain_reply());
  ASSERT_TRUE(hand.done(1));
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::ok) << hand.notes.details[0];
  EXPECT_EQ(hand.stats().requests_made_late, 1U);
}

}  // namespace
}  // namespace assay::protocol
