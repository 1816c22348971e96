#include "net/poller.h"

#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/check.h"

namespace assay::net {
namespace {

Result<void> watch(const Fd& epoll, int fd, std::uint64_t key, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = key;
  if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    return errno_error("cannot watch a descriptor");
  }
  return {};
}

}  // namespace

Result<Poller> Poller::open(std::size_t batch) {
  CHECK(batch > 0);
  Fd epoll(::epoll_create1(EPOLL_CLOEXEC));
  Fd wake(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  if (!epoll.open() || !wake.open()) return errno_error("cannot make an epoll instance");
  TRY(watch(epoll, wake.get(), kWakeKey, EPOLLIN));
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  return Poller(std::move(epoll), std::move(wake), batch);
}

Result<void> Poller::add(int fd, std::uint64_t key) {
  CHECK(key != kWakeKey);
  return watch(epoll_, fd, key, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
}

Result<void> Poller::add_listener(int fd, std::uint64_t key) {
  CHECK(key != kWakeKey);
  return watch(epoll_, fd, key, EPOLLIN | EPOLLEXCLUSIVE);
}

void Poller::remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const epoll_event> Poller::wait(Duration timeout) {
  const int room = static_cast<int>(events_.size());
  int count = 0;
  if (timeout.ns <= 0) {
    count = ::epoll_wait(epoll_.get(), events_.data(), room, 0);
  } else {
    const timespec t{timeout.ns / 1'000'000'000, timeout.ns % 1'000'000'000};
    count = ::epoll_pwait2(epoll_.get(), events_.data(), room, &t, nullptr);
  }
  CHECK(count >= 0 || errno == EINTR);
  std::size_t kept = 0;
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events_[static_cast<std::size_t>(i)];
    if (event.data.u64 != kWakeKey) {
      events_[kept++] = event;
      continue;
    }
    std::uint64_t drained = 0;
    [[maybe_unused]] const ssize_t n = ::read(wake_.get(), &drained, sizeof(drained));
  }
  return {events_.data(), kept};
}

void Poller::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(wake_.get(), &one, sizeof(one));
}

}  // namespace assay::net
