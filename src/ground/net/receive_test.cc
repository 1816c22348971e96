#include "net/receive.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace assay::net {
namespace {

constexpr Instant kBefore{1'000'000'000};
constexpr Instant kRead{1'200'000'000};

WallTime stamp_at(Instant at, const ClockOffset& offset) {
  return {at.ns + offset.wall_minus_monotonic.ns};
}

TEST(StampClock, maps_a_stamp_and_never_beyond_the_read) {
  const ClockOffset offset{.wall_minus_monotonic = 1_s, .error = 5_us};
  StampClock clock(offset);
  EXPECT_EQ(clock.arrival(stamp_at(kBefore + 30_ms, offset), kBefore, kRead), kBefore + 30_ms);
  EXPECT_EQ(clock.arrival(stamp_at(kRead + 2_us, offset), kBefore, kRead), kRead);
  EXPECT_EQ(clock.slew_max(), Duration{});
}

// Up to kStep beyond the possible range is the mapping's error; more means that the clock was set.
TEST(StampClock, a_stamp_is_believed_as_far_as_the_mapping_may_be_wrong) {
  const ClockOffset offset{.wall_minus_monotonic = 1_s, .error = 5_us};
  StampClock clock(offset);
  const Instant early = kBefore - StampClock::kStep;
  const Instant late = kRead + StampClock::kStep;
  EXPECT_EQ(clock.arrival(stamp_at(early, offset), kBefore, kRead), early);
  EXPECT_EQ(clock.arrival(stamp_at(late, offset), kBefore, kRead), kRead);
  EXPECT_EQ(clock.slew_max(), Duration{});  // neither needed a new offset
  EXPECT_FALSE(clock.arrival(stamp_at(early - 1_ns, offset), kBefore, kRead).known());
  EXPECT_GT(clock.slew_max(), Duration{});
  StampClock other(offset);
  EXPECT_FALSE(other.arrival(stamp_at(late + 1_ns, offset), kBefore, kRead).known());
  EXPECT_GT(other.slew_max(), Duration{});
}

TEST(StampClock, keeps_the_largest_error_and_the_largest_move_that_it_saw) {
  StampClock clock(ClockOffset{.wall_minus_monotonic = 10_s, .error = 5_us});
  EXPECT_EQ(clock.error_max(), 5_us);
  clock.refresh(ClockOffset{.wall_minus_monotonic = 7_s, .error = 9_us});
  EXPECT_EQ(clock.error_max(), 9_us);
  EXPECT_EQ(clock.slew_max(), 3_s);
  const ClockOffset last{.wall_minus_monotonic = 8_s, .error = 2_us};
  clock.refresh(last);
  EXPECT_EQ(clock.error_max(), 9_us);
  EXPECT_EQ(clock.slew_max(), 3_s);
  EXPECT_EQ(clock.arrival(stamp_at(kRead, last), kBefore, kRead), kRead);
  clock.refresh(ClockOffset{.wall_minus_monotonic = 12_s, .error = 2_us});
  EXPECT_EQ(clock.slew_max(), 4_s);
}

// Durations come only from the monotonic clock. Stamps are the wall clock's, so setting the wall
// clock in the middle of a run must not move an arrival.
TEST(StampClock, a_wall_clock_that_was_set_is_noticed_at_the_first_stamp) {
  for (const Duration step : {5_s, Duration{} - 5_s, 3600_s}) {
    const ClockOffset now = sample_clock_offset();
    const ClockOffset old{.wall_minus_monotonic = now.wall_minus_monotonic - step};
    StampClock clock(old);
    const Instant read = OsClock().now();
    const Instant arrival = clock.arrival(stamp_at(read - 1_ms, now), read - 50_ms, read);
    ASSERT_TRUE(arrival.known());
    EXPECT_LE(std::abs((arrival - (read - 1_ms)).ns), (1_ms).ns);
    EXPECT_GE(clock.slew_max(), 4_s);
    // A stamp from before the clock was set, read afterwards, is useless.
    EXPECT_FALSE(clock.arrival(stamp_at(read - 1_ms, old), read - 50_ms, read).known());
  }
}

// A connection on loopback; both ends block until bytes come.
struct Ends {
  Fd client{};
  Fd server{};
};

Ends tcp_ends() {
  const Fd listener = listen_on(Address::numeric("127.0.0.1", 0).value(), {}).value();
  Ends out;
  out.client = start_connect(local_address(listener).value()).value();
  pollfd incoming{listener.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&incoming, 1, -1), 1);
  out.server = accept_one(listener).value();
  return out;
}

Ends unix_ends() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

void wait_to_read(const Fd& fd) {
  pollfd readable{fd.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&readable, 1, -1), 1);
}

TEST(Receive, says_what_came_that_nothing_came_and_that_the_peer_closed) {
  using Receive = Received (*)(const Fd&, char*, std::size_t);
  for (const Receive read : {Receive{receive}, Receive{receive_stamped}}) {
    Ends ends = unix_ends();
    std::string buffer(8, '.');
    Received got = read(ends.server, buffer.data(), buffer.size());
    EXPECT_LT(got.bytes, 0);
    EXPECT_EQ(got.error, EAGAIN);
    EXPECT_EQ(send_some(ends.client, "abcdefghij"), 10);
    got = read(ends.server, buffer.data(), buffer.size());
    EXPECT_EQ(got.bytes, 8);
    EXPECT_EQ(got.error, 0);
    EXPECT_EQ(got.stamp.ns, 0);  // a Unix socket has none
    EXPECT_EQ(buffer, "abcdefgh");
    EXPECT_EQ(read(ends.server, buffer.data(), buffer.size()).bytes, 2);
    ends.client.reset();
    got = read(ends.server, buffer.data(), buffer.size());
    EXPECT_EQ(got.bytes, 0);
    EXPECT_EQ(got.error, 0);
  }
}

// The kernel may switch stamps on a moment after the call: the first reads may have none.
TEST(Receive, a_stamp_is_the_kernels_instant_of_the_arrival) {
  const Ends ends = tcp_ends();
  ASSERT_TRUE(enable_receive_stamps(ends.server));
  StampClock clock;
  Received got;
  Instant sent;
  std::string buffer(8, '.');
  const Instant end = OsClock().now() + 60_s;
  while (got.stamp.ns == 0 && OsClock().now() < end) {
    sent = OsClock().now();
    ASSERT_EQ(send_some(ends.client, "x"), 1);
    wait_to_read(ends.server);
    got = receive_stamped(ends.server, buffer.data(), buffer.size());
    ASSERT_EQ(got.bytes, 1);
  }
  const Instant read = OsClock().now();
  ASSERT_NE(got.stamp.ns, 0);
  const Instant arrival = clock.arrival(got.stamp, sent, read);
  EXPECT_GE(arrival, sent - StampClock::kStep);
  EXPECT_LE(arrival, read);
  EXPECT_EQ(clock.slew_max(), Duration{});
}

TEST(Receive, a_socket_that_is_not_open_has_no_stamps) {
  EXPECT_FALSE(enable_receive_stamps(Fd()));
}

TEST(Send, pieces_are_one_text_in_their_order) {
  const Ends ends = unix_ends();
  const std::string_view pieces[kPiecesMax] = {"a", "bc", "", "def", "g", "h", "i", "jk"};
  EXPECT_EQ(send_some(ends.client, pieces), 11);
  std::string buffer(20, '.');
  EXPECT_EQ(receive(ends.server, buffer.data(), buffer.size()).bytes, 11);
  EXPECT_EQ(buffer.substr(0, 11), "abcdefghijk");
}

TEST(Send, a_peer_that_has_gone_is_an_error_and_no_signal) {
  Ends ends = unix_ends();
  ends.server.reset();
  EXPECT_LT(send_some(ends.client, "x"), 0);
  EXPECT_EQ(errno, EPIPE);
  const std::string_view piece = "x";
  errno = 0;
  EXPECT_LT(send_some(ends.client, {&piece, 1}), 0);
  EXPECT_EQ(errno, EPIPE);
}

}  // namespace
}  // namespace assay::net
