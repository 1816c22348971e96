#include "net/wait_connected.h"

#include <gtest/gtest.h>

#include <vector>

#include "net/receive.h"

namespace assay::net {
namespace {

TEST(WaitConnected, a_connection_under_way_is_none_yet) {
  // The kernel takes one or two that wait to be accepted, and lets the others try again.
  const Fd listener = listen_on(*Address::numeric("127.0.0.1", 0), {.backlog = 0}).value();
  std::vector<Fd> waiting;
  for (int i = 0; i < 5; ++i) {
    waiting.push_back(start_connect(local_address(listener).value()).value());
  }
  const SimClock clock;
  const auto last = wait_connected(waiting.back(), clock, clock.now());
  ASSERT_FALSE(last);
  EXPECT_EQ(last.error().code, Code::timed_out);
  EXPECT_EQ(last.error().message, "no connection in time");
  const OsClock time;
  EXPECT_TRUE(wait_connected(waiting.front(), time, time.now() + 10_s));
  const auto later = wait_connected(waiting.back(), time, time.now() + 20_ms);
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().code, Code::timed_out);
}

TEST(WaitConnected, what_a_peer_says_first_is_an_event_of_the_poller) {
  const Fd listener = listen_on(*Address::numeric("127.0.0.1", 0), {}).value();
  const Fd mine = start_connect(local_address(listener).value()).value();
  const OsClock clock;
  ASSERT_TRUE(wait_connected(mine, clock, clock.now() + 10_s));
  const Fd theirs = accept_one(listener).value();
  ASSERT_TRUE(theirs.open());
  ASSERT_EQ(send_some(theirs, "first"), 5);
  auto poller = wait_connected(mine, clock, clock.now() + 10_s);
  ASSERT_TRUE(poller) << poller.error().message;
  const auto events = poller->wait(10_s);
  ASSERT_EQ(events.size(), 1U);
  const std::uint64_t key = events[0].data.u64;  // the kernel packs it
  EXPECT_EQ(key, 0U);
  EXPECT_NE(events[0].events & EPOLLIN, 0U);
}

TEST(WaitConnected, a_refusal_has_its_own_words) {
  Fd listener = listen_on(*Address::numeric("127.0.0.1", 0), {}).value();
  const Address where = local_address(listener).value();
  listener.reset();
  const Fd fd = start_connect(where).value();
  const OsClock clock;
  const auto refused = wait_connected(fd, clock, clock.now() + 10_s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::refused);
  EXPECT_EQ(refused.error().message, "Connection refused");
}

}  // namespace
}  // namespace assay::net
