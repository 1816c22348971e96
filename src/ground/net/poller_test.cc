#include "net/poller.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "base/clock.h"

namespace assay::net {
namespace {

std::pair<Fd, Fd> socket_pair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
  return {Fd(fds[0]), Fd(fds[1])};
}

TEST(Poller, an_edge_is_told_once) {
  auto poller = Poller::open();
  ASSERT_TRUE(poller);
  auto [mine, theirs] = socket_pair();
  ASSERT_TRUE(poller->add(mine.get(), 7));
  ASSERT_EQ(poller->wait({}).size(), 1u);  // writable at once
  EXPECT_TRUE(poller->wait({}).empty());
  ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
  const auto events = poller->wait(10_s);
  ASSERT_EQ(events.size(), 1u);
  const std::uint64_t key = events[0].data.u64;  // the kernel packs it
  EXPECT_EQ(key, 7u);
  EXPECT_TRUE(events[0].events & EPOLLIN);
  EXPECT_TRUE(poller->wait({}).empty());  // not read, but there is no second edge
  theirs.reset();
  const auto gone = poller->wait(10_s);
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_TRUE(gone[0].events & EPOLLRDHUP);
}

TEST(Poller, a_timeout_is_kept_to_the_nanosecond_below_a_millisecond) {
  auto poller = Poller::open();
  ASSERT_TRUE(poller);
  const OsClock clock;
  const Instant start = clock.now();
  EXPECT_TRUE(poller->wait(300_us).empty());
  EXPECT_GE(clock.now() - start, 300_us);
}

TEST(Poller, wake_ends_a_wait_from_another_thread_and_is_no_event) {
  auto poller = Poller::open();
  ASSERT_TRUE(poller);
  std::thread other([&poller] { poller->wake(); });
  EXPECT_TRUE(poller->wait(Duration::max()).empty());
  other.join();
  EXPECT_TRUE(poller->wait({}).empty());
}

}  // namespace
}  // namespace assay::net
