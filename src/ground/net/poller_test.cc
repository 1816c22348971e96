#include "net/poller.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/clock.h"
#include "net/socket.h"

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

TEST(Poller, a_listener_is_told_until_it_is_empty_and_only_of_what_comes_in) {
  auto poller = Poller::open();
  ASSERT_TRUE(poller);
  const Fd listener = listen_on(Address::numeric("127.0.0.1", 0).value(), {}).value();
  ASSERT_TRUE(poller->add_listener(listener.get(), 9));
  EXPECT_TRUE(poller->wait({}).empty());
  const Fd client = start_connect(local_address(listener).value()).value();
  for (int i = 0; i < 2; ++i) {
    const auto events = poller->wait(i == 0 ? 10_s : Duration::max());
    ASSERT_EQ(events.size(), 1U);
    const std::uint64_t key = events[0].data.u64;  // the kernel packs it
    EXPECT_EQ(key, 9U);
    EXPECT_EQ(events[0].events, std::uint32_t{EPOLLIN});
  }
  EXPECT_TRUE(accept_one(listener)->open());
  EXPECT_TRUE(poller->wait({}).empty());
}

TEST(Poller, a_descriptor_that_was_removed_is_told_no_more) {
  auto poller = Poller::open();
  ASSERT_TRUE(poller);
  auto [mine, theirs] = socket_pair();
  ASSERT_TRUE(poller->add(mine.get(), 7));
  const auto again = poller->add(mine.get(), 8);
  ASSERT_FALSE(again) << "it is watched already";
  EXPECT_EQ(again.error().message, "cannot watch a descriptor: File exists");
  poller->remove(mine.get());
  ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
  EXPECT_TRUE(poller->wait({}).empty());
  EXPECT_TRUE(poller->add(mine.get(), 8));
}

TEST(Poller, a_wake_is_not_lost_behind_another_event) {
  auto poller = Poller::open(1);
  ASSERT_TRUE(poller);
  auto [mine, theirs] = socket_pair();
  ASSERT_TRUE(poller->add(mine.get(), 7));
  EXPECT_EQ(poller->wait({}).size(), 1U) << "it may be written to";
  ASSERT_EQ(::write(theirs.get(), "x", 1), 1);
  poller->wake();
  EXPECT_EQ(poller->wait(10_s).size(), 1U);
  EXPECT_TRUE(poller->wait(Duration::max()).empty()) << "the wake ends it";
}

TEST(Poller, a_look_at_what_is_ready_waits_for_nothing) {
  auto poller = Poller::open();
  ASSERT_TRUE(poller);
  const OsClock clock;
  Duration best = 10_s;
  for (int batch = 0; batch < 50; ++batch) {
    const Instant before = clock.now();
    for (int i = 0; i < 20; ++i) EXPECT_TRUE(poller->wait({}).empty());
    best = std::min(best, clock.now() - before);
  }
  EXPECT_LT(best, 15_ms) << "the best of many";
}

TEST(Poller, that_finds_no_two_descriptors_is_an_error) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(2);
  ::close(next);
  for (const int room : {0, 1}) {
    const rlimit less{.rlim_cur = static_cast<rlim_t>(next + room), .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &less), 0);
    const auto poller = Poller::open();
    ::setrlimit(RLIMIT_NOFILE, &before);
    ASSERT_FALSE(poller);
    EXPECT_EQ(poller.error().message, "cannot make an epoll instance: Too many open files");
  }
}

TEST(Poller, as_many_events_are_told_at_once_as_were_asked_for) {
  auto poller = Poller::open(1);
  ASSERT_TRUE(poller);
  auto [mine, theirs] = socket_pair();
  ASSERT_TRUE(poller->add(mine.get(), 1));
  ASSERT_TRUE(poller->add(theirs.get(), 2));
  const std::uint64_t first = poller->wait({})[0].data.u64;
  const std::uint64_t second = poller->wait({})[0].data.u64;
  EXPECT_EQ(first + second, 3U);
  EXPECT_TRUE(poller->wait({}).empty());
}

// The kernel would add 50 µs to each sleep.
TEST(Poller, its_threads_sleeps_are_as_exact_as_the_kernel_can) {
  ASSERT_EQ(::prctl(PR_SET_TIMERSLACK, 50'000UL, 0UL, 0UL, 0UL), 0);
  ASSERT_TRUE(Poller::open());
  EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL), 1);
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
