// For tests: a blocking client of a server that runs in another thread.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "net/socket.h"

namespace assay::net {

// Each wait has a time limit, so that a fault of ours fails a test instead of blocking it.
class Client {
 public:
  explicit Client(const Address& address) {
    auto fd = start_connect(address);
    EXPECT_TRUE(fd) << fd.error().message;
    fd_ = std::move(*fd);
    EXPECT_TRUE(wait(POLLOUT));
  }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN && wait(POLLOUT)) continue;
      ASSERT_GT(n, 0);
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  // Reads until `enough` accepts the text, or until the end; appends "<reset>" after a reset.
  std::string read(const std::function<bool(const std::string&)>& enough) {
    std::string text;
    char buffer[65536];
    while (!enough(text) && wait(POLLIN)) {
      const ssize_t n = ::recv(fd_.get(), buffer, sizeof(buffer), 0);
      if (n < 0 && errno == ECONNRESET) return text + "<reset>";
      if (n <= 0) return text + "<end>";
      text.append(buffer, static_cast<std::size_t>(n));
    }
    return text;
  }
  std::string read_to(std::string_view ending) {
    return read([ending](const std::string& text) { return text.ends_with(ending); });
  }
  std::string read_all() {
    return read([](const std::string&) { return false; });
  }
  void shut() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

 private:
  bool wait(short events) {
    pollfd entry{.fd = fd_.get(), .events = events, .revents = 0};
    return ::poll(&entry, 1, 10'000) == 1;
  }
  Fd fd_{};
};

}  // namespace assay::net
