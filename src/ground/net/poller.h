// Poller: epoll with nanosecond timeouts, and a wake-up that another thread or a signal handler may
// send.
//
// Descriptors are watched edge-triggered for everything (listeners: level-triggered, for reading
// only), so the measuring path makes no epoll_ctl call after a connection is opened. An owner must
// therefore read or write until the kernel says "would block" before it waits for the next edge.
// One thread, except wake().
#pragma once

#include <sys/epoll.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "net/socket.h"

namespace assay::net {

class Poller {
 public:
  // wait() returns at most `batch` events. open() sets the thread's timer slack to its minimum,
  // because the kernel would add 50 µs to each sleep.
  static Result<Poller> open(std::size_t batch = 512);

  // Edge-triggered: EPOLLIN, EPOLLOUT, EPOLLRDHUP. `key` comes back in data.u64.
  // REQUIRES: key != kWakeKey.
  Result<void> add(int fd, std::uint64_t key);
  // Level-triggered, for reading; of pollers that share the descriptor the kernel wakes one.
  Result<void> add_listener(int fd, std::uint64_t key);
  void remove(int fd);

  // Returns the ready events after at most `timeout` (zero: at once; Duration::max(): no limit). A
  // wake() ends the wait and is not among the events. The span is valid until the next call.
  std::span<const epoll_event> wait(Duration timeout);

  // Ends the current wait, or else the next one. Any thread; safe in a signal handler.
  void wake() const;

  static constexpr std::uint64_t kWakeKey = ~std::uint64_t{0};

 private:
  Poller(Fd epoll, Fd wake_fd, std::size_t batch)
      : epoll_(std::move(epoll)), wake_(std::move(wake_fd)), events_(batch) {}

  Fd epoll_;
  Fd wake_;
  std::vector<epoll_event> events_;
};

}  // namespace assay::net
