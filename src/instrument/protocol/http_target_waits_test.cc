// Which instants HttpTarget waits for, and what it knows of a socket after a wait.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>

#include "net/testing_http2.h"
#include "protocol/testing_by_hand.h"

namespace assay::protocol {
namespace {

// A server may begin to answer a long prompt before it has all of it.
TEST(HttpTargetWaits,
     an_answer_that_began_before_its_request_was_out_counts_from_the_requests_begin) {
  for (const bool token_comes_early : {true, false}) {
    ByHand hand;
    hand.datasets[0].dataset.samples[0].prompt = std::string(ByHand::kLargeBytes, 'x');
    const Instant begun = hand.clock.now();
    hand.submit(0);
    PlayedPeer peer = hand.accept();
    hand.turn();
    ASSERT_TRUE(hand.notes.sent.empty()) << "it waits for the peer to read";
    hand.pass(5_ms);
    peer.say(stream_head());
    if (token_comes_early) peer.say(word_chunk("a"));
    hand.turn();
    hand.pass(20_ms);
    EXPECT_FALSE(hand.request(peer).empty());
    hand.pass(10_ms);
    peer.say(word_chunk("b") + stop_chunk() + stream_chunk("[DONE]") + std::string(kStreamEnd));
    ASSERT_TRUE(hand.done(1));
    const Event& event = hand.notes.done[0];
    EXPECT_EQ(event.outcome, Outcome::ok) << hand.notes.details[0];
    EXPECT_EQ(event.sent, token_comes_early ? begun : begun + 25_ms);
    EXPECT_EQ(event.first_token, token_comes_early ? begun + 5_ms : begun + 35_ms);
    EXPECT_EQ(hand.notes.sent, (std::vector<Notes::Sent>{{0, begun, event.sent}}));
  }
}

// Each wait here would go on for a quarter of an hour with the later deadline.
TEST(HttpTargetWaits, the_earlier_of_two_deadlines_ends_a_wait) {
  ByHand queries;
  queries.endpoints.query_timeout = 1000_s;
  queries.submit(0);
  PlayedPeer first = queries.accept();
  queries.request(first);
  queries.pass(999_s);
  queries.submit(1);
  PlayedPeer second = queries.accept();
  queries.request(second);
  queries.pass(999_ms);
  queries.target().poll(Instant::max(), queries.notes);
  queries.pass(1_ms);
  queries.turn();
  ASSERT_EQ(queries.notes.done.size(), 1U);
  EXPECT_EQ(queries.notes.done[0].query.index, 0U);

  ByHand connects(1, "https");
  connects.endpoints.insecure = true;
  connects.endpoints.connect_timeout = 1000_s;
  connects.submit(0);
  PlayedPeer silent = connects.accept();
  connects.turn();
  connects.pass(999_s);
  connects.submit(1);
  PlayedPeer other = connects.accept();
  connects.turn();
  connects.pass(999_ms);
  connects.target().poll(Instant::max(), connects.notes);
  connects.pass(1_ms);
  connects.turn();
  EXPECT_EQ(connects.notes.done.size(), 1U);
  EXPECT_TRUE(silent.closed());
  EXPECT_FALSE(other.closed());
}

TEST(HttpTargetWaits, without_a_time_for_connecting_a_silent_peer_is_waited_for) {
  ByHand hand(1, "https");
  hand.endpoints.insecure = true;
  hand.endpoints.connect_timeout = Duration::max();
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  hand.turn();
  hand.pass(3600_s);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  EXPECT_FALSE(peer.closed());
}

// A server that allows a query, and then none before it went out.
TEST(HttpTargetWaits, without_a_time_for_connecting_a_starved_connection_is_waited_for) {
  ByHand hand;
  hand.endpoints.http = HttpVersion::http2;
  hand.endpoints.connect_timeout = Duration::max();
  PlayedPeer peer;
  hand.submit(0);
  peer = hand.accept();
  peer.say(net::settings());
  hand.turn();
  peer.say(net::settings(net::setting(net::kConcurrentStreams, 0)));
  hand.turn();
  hand.pass(3600_s);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  EXPECT_FALSE(peer.closed());
}

// The peer's window takes a part of the request, and then it allows no stream.
TEST(HttpTargetWaits, what_a_starved_connection_holds_back_waits_as_long_as_for_a_connection) {
  ByHand hand;
  hand.endpoints.http = HttpVersion::http2;
  hand.endpoints.connect_timeout = 5_s;
  hand.datasets[0].dataset.samples[0].prompt = std::string(100'000, 'x');
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  peer.say(net::settings());
  hand.turn();
  hand.pass(1_s);
  peer.say(net::settings(net::setting(net::kConcurrentStreams, 0)));
  hand.turn();
  hand.pass(2_s);
  peer.say(net::settings());  // which does not allow more, and does not begin the time anew
  hand.turn();
  hand.pass(3_s - 1_ns);
  hand.turn();
  EXPECT_TRUE(hand.notes.done.empty());
  hand.pass(1_ns);
  hand.turn();
  ASSERT_EQ(hand.notes.done.size(), 1U);
  EXPECT_EQ(hand.notes.done[0].outcome, Outcome::connect_failed);
  EXPECT_EQ(hand.notes.details[0],
            "the server allowed no HTTP/2 stream within 5.00 s (SETTINGS_MAX_CONCURRENT_STREAMS is "
            "0)");
}

// The first deadline is over with the first time of starving, also where another connection's comes
// before it.
TEST(HttpTargetWaits, a_connection_that_starves_again_is_given_its_whole_time_again) {
  for (const bool behind_another : {false, true}) {
    ByHand hand(2);
    hand.endpoints.http = HttpVersion::http2;
    hand.endpoints.connect_timeout = 5_s;
    hand.datasets[0].dataset.samples[0].prompt = std::string(100'000, 'x');
    const auto allow = [&](PlayedPeer& peer, std::uint32_t streams) {
      peer.say(net::settings(net::setting(net::kConcurrentStreams, streams)));
      hand.turn();
    };
    std::vector<PlayedPeer> peers = hand.submit_to_each_endpoint();
    if (behind_another) allow(peers[0], 0);
    for (const std::uint32_t streams : {0U, 1U, 0U}) {
      hand.pass(1_s);
      allow(peers[1], streams);
    }
    hand.pass(5_s - 1_ns);
    hand.turn();
    EXPECT_EQ(hand.notes.done.size(), behind_another ? 1U : 0U);
    EXPECT_EQ(peers[0].closed(), behind_another);
    EXPECT_FALSE(peers[1].closed());
    hand.pass(1_ns);
    hand.turn();
    ASSERT_EQ(hand.notes.done.size(), behind_another ? 2U : 1U);
    EXPECT_EQ(hand.notes.done.back().query.index, 1U);
    EXPECT_EQ(hand.notes.done.back().outcome, Outcome::connect_failed);
    EXPECT_TRUE(peers[1].closed());
  }
}

// Its connection is too old for the next query by then: the new one uses the same record.
TEST(HttpTargetWaits, a_query_that_is_taken_back_before_it_went_out_leaves_nothing_to_the_next) {
  ByHand hand(2);
  hand.endpoints.http = HttpVersion::http2;
  hand.endpoints.idle_connection_max = 2_s;
  std::vector<PlayedPeer> peers = hand.submit_to_each_endpoint();
  hand.submit(2);
  hand.target().cancel_all(hand.notes);
  EXPECT_EQ(hand.notes.done.size(), 3U);
  hand.pass(2_s + 1_ns);
  hand.submit(3);
  hand.submit(4);
  PlayedPeer next = hand.accept(0);
  EXPECT_TRUE(peers[0].closed());
  next.say(net::settings());
  EXPECT_TRUE(hand.until([&] {
    next.hear();
    return next.heard.find("hello") != std::string::npos;
  }));
  EXPECT_EQ(hand.notes.sent.back().index, 4U);
}

// The rows' maker waits where it is not the test's own thread: no request can be made ahead.
TEST(HttpTargetWaits, requests_that_are_made_in_the_run_are_awaited_up_to_the_limit) {
  const auto open = std::make_shared<std::atomic<bool>>(false);
  ByHand hand;
  Dataset& dataset = hand.datasets[0].dataset;
  dataset.samples.clear();
  dataset.made_rows = 1'000'000;
  dataset.slow_rows = true;
  dataset.make_row = [open, test = std::this_thread::get_id()](std::uint32_t) {
    while (std::this_thread::get_id() != test && !*open) std::this_thread::yield();
    return Sample{.prompt = "hello", .output_tokens_max = 3};
  };
  hand.plan.phases[0].order = SampleOrder::sequential(1'000'000);
  const Instant limit = hand.clock.now() + 5_ms;
  hand.target().get_ahead(hand.clock, limit);
  EXPECT_EQ(hand.clock.now(), limit);
  hand.submit(0);
  PlayedPeer peer = hand.accept();
  EXPECT_FALSE(hand.request(peer).empty());
  EXPECT_EQ(hand.stats().requests_made_late, 1U);
  *open = true;
}

TEST(HttpTargetWaits, a_wait_that_nothing_cut_short_is_not_counted_whatever_errno_was) {
  ByHand hand;
  errno = EINTR;
  hand.target().poll(hand.clock.now() + 1_us, hand.notes);
  EXPECT_EQ(hand.stats().waits_interrupted, 0U);
  EXPECT_EQ(hand.stats().interrupted_for, Duration{});
}

// The kernel counts each time that this thread slept.
TEST(HttpTargetWaits, a_poll_whose_time_has_come_does_not_sleep) {
  ByHand hand;
  const std::vector<PlayedPeer> peers = hand.submit_each(1);
  hand.turn();
  const auto slept = [] {
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
  };
  const auto before = slept();
  for (int i = 0; i < 200; ++i) hand.target().poll(hand.clock.now(), hand.notes);
  EXPECT_LT(slept() - before, 100);
}

// Moves on by 1 ms with each look, which is longer than what a wake takes.
class StridingClock final : public Clock {
 public:
  Instant now() const override {
    now_ = now_ + 1_ms;
    ++looks;
    return now_;
  }
  void sleep_until(Instant until) override { now_ = std::max(now_, until); }
  Duration spin_window() const override { return {}; }
  mutable std::atomic<int> looks{0};

 private:
  mutable Instant now_ = Instant{} + 1000_s;
};

// The kernel counts this thread's sleeps. Where the bytes come before it sleeps, or another process
// holds its core, nothing more is known than the look before.
TEST(HttpTargetWaits, bytes_that_end_a_sleep_came_at_its_end) {
  bool seen = false;
  for (int attempt = 0; attempt < 2000 && !seen; ++attempt) {
    ByHand hand;
    StridingClock clock;
    auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
    ASSERT_TRUE(target);
    const auto poll = [&](Instant until) { (*target)->poll(until, hand.notes); };
    (*target)->submit({}, clock.now(), hand.notes);
    while (!hand.somebody_waits()) poll(clock.now());
    PlayedPeer peer(net::accept_one(hand.listeners[0]).value());
    for (; peer.request().empty(); peer.hear()) poll(clock.now());
    const int before = clock.looks;
    std::thread server([&] {
      while (clock.looks < before + 2) std::this_thread::yield();
      for (int i = 0; i < 200; ++i) std::this_thread::yield();
      peer.say(stream_head() + word_chunk("a"));
    });
    while (hand.notes.events.empty()) poll(Instant::max());
    server.join();
    seen = hand.notes.events[0].uncertainty < 1_ms;
  }
  EXPECT_TRUE(seen);
}

// Another thread sends signals until the wait has ended, so that none of them has to come at an
// instant. With none ready the look before the wait says that no bytes had come; the wait adds
// nothing.
TEST(HttpTargetWaits, a_wait_that_a_signal_cut_short_says_only_what_the_look_before_it_said) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &ignore, &before), 0);
  ByHand hand;
  StridingClock clock;
  auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
  ASSERT_TRUE(target);
  const auto poll = [&](Instant until) { (*target)->poll(until, hand.notes); };
  (*target)->submit({}, clock.now(), hand.notes);
  while (!hand.somebody_waits()) poll(clock.now());
  PlayedPeer peer(net::accept_one(hand.listeners[0]).value());
  for (; peer.request().empty(); peer.hear()) poll(clock.now());
  std::atomic<bool> ended{false};
  std::thread signals([&ended, waits = ::pthread_self()] {
    while (!ended) {
      ::pthread_kill(waits, SIGUSR1);
      std::this_thread::yield();
    }
  });
  const Instant looked = clock.now() + 1_ms;
  poll(Instant::max());
  ended = true;
  signals.join();
  EXPECT_EQ((*target)->stats().waits_interrupted, 1U);
  EXPECT_GT((*target)->stats().interrupted_for, Duration{});
  peer.say(stream_head() + word_chunk("a"));
  while (hand.notes.events.empty()) poll(clock.now());
  const StreamEvent& event = hand.notes.events[0];
  EXPECT_EQ(event.arrival - event.uncertainty, looked);
  ::sigaction(SIGUSR1, &before, nullptr);
}

// The first read takes 32 KiB of it.
TEST(HttpTargetWaits, what_a_read_left_in_the_socket_may_have_come_before_that_read) {
  ByHand hand;
  std::vector<PlayedPeer> peers = hand.submit_each(1);
  hand.turn();  // it has nothing now
  hand.pass(3_ms);
  std::string reply = stream_head();
  while (reply.size() < 48'000) reply += word_chunk("a");
  peers[0].say(reply);
  hand.target().poll(hand.clock.now(), hand.notes);
  ASSERT_GT(hand.notes.text.size(), 400U);
  for (const StreamEvent& event : hand.notes.events) EXPECT_EQ(event.uncertainty, 3_ms);
}

TEST(HttpTargetWaits, at_whatever_look_at_the_clock_a_byte_comes_it_came_when_it_is_said_to) {
  for (int look = 1; look < 20; ++look) {
    ByHand hand;
    TickingClock clock;
    auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
    ASSERT_TRUE(target);
    const auto poll = [&] { (*target)->poll(clock.now() + TickingClock::kTick * 5, hand.notes); };
    (*target)->submit({}, clock.now(), hand.notes);
    while (!hand.somebody_waits()) poll();
    PlayedPeer peer(net::accept_one(hand.listeners[0]).value());
    for (; peer.request().empty(); peer.hear()) poll();
    int looks = 0;
    Instant said = Instant::none();
    clock.at_look = [&](Instant now) {
      if (++looks != look) return;
      said = now;
      peer.say(stream_head() + word_chunk("a"));
    };
    while (hand.notes.events.empty()) poll();
    const StreamEvent& event = hand.notes.events[0];
    EXPECT_LE(event.arrival - event.uncertainty, said) << look;
    EXPECT_GE(event.arrival, said) << look;
    clock.at_look = nullptr;
  }
}

// Of 24 ticks from the look that lists them, 12 go to as many reads; but 8 are read in any case.
TEST(HttpTargetWaits, reading_leaves_as_much_time_to_what_is_done_with_the_bytes) {
  struct Turn {
    int ticks = 0;
    int together = 0;
    std::size_t done = 0;
  };
  for (const Turn& turn : {Turn{26, 12, 20}, Turn{0, 8, 8}}) {
    ByHand hand;
    TickingClock clock;
    auto target = HttpTarget::create(hand.plan, hand.datasets, hand.endpoints, hand.options, clock);
    ASSERT_TRUE(target);
    const auto poll = [&] { (*target)->poll(clock.now() + TickingClock::kTick * 5, hand.notes); };
    std::vector<PlayedPeer> peers;
    for (std::uint32_t i = 0; i < 20; ++i) {
      (*target)->submit({.index = i}, clock.now(), hand.notes);
      while (!hand.somebody_waits()) poll();
      PlayedPeer& peer = peers.emplace_back(net::accept_one(hand.listeners[0]).value());
      for (; peer.request().empty(); peer.hear()) poll();
    }
    for (PlayedPeer& peer : peers) peer.say(plain_reply());
    int looks = 0;  // at the clock, before the first reply was reported
    const Instant start = clock.now();
    clock.at_look = [&](Instant) { looks += hand.notes.done.empty() ? 1 : 0; };
    (*target)->poll(start + TickingClock::kTick * turn.ticks, hand.notes);
    clock.at_look = nullptr;
    EXPECT_EQ(looks, 2 + turn.together);
    EXPECT_EQ(hand.notes.done.size(), turn.done);
  }
}

// A full list may leave some out: it says of no socket that it was empty.
TEST(HttpTargetWaits, what_a_full_list_left_out_may_have_come_before_it) {
  ByHand hand;
  std::vector<PlayedPeer> peers = hand.submit_each(150);
  hand.turn();  // none has anything now
  hand.pass(5_ms);
  for (PlayedPeer& peer : peers) peer.say(plain_reply());
  hand.target().poll(hand.clock.now() + 1_s, hand.notes);
  ASSERT_EQ(hand.notes.done.size(), 128U);
  hand.pass(1_ms);
  hand.target().poll(hand.clock.now() + 1_s, hand.notes);
  ASSERT_EQ(hand.notes.done.size(), 150U);
  for (std::size_t i = 0; i < hand.notes.done.size(); ++i) {
    EXPECT_EQ(hand.notes.done[i].done_uncertainty, i < 128 ? 5_ms : 6_ms) << i;
  }
}

}  // namespace
}  // namespace assay::protocol
