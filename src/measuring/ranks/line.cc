#include "ranks/line.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace assay::ranks {
namespace {

constexpr std::size_t kLineMax = 64 << 10;
constexpr Duration kSendMax = 10_s;
constexpr std::int64_t kNsPerMs = 1'000'000;

// Waits until the socket is ready, at most until `until`; at least one look is taken.
bool wait_for(int fd, short events, Instant until, const Clock& clock) {
  const std::int64_t left = std::max<std::int64_t>(0, (until - clock.now()).ns);
  constexpr std::int64_t kMostMs = 60'000;
  pollfd wanted{.fd = fd, .events = events, .revents = 0};
  const int timeout = static_cast<int>(std::min(kMostMs, (left + kNsPerMs - 1) / kNsPerMs));
  return ::poll(&wanted, 1, timeout) > 0;
}

}  // namespace

Result<void> Line::send(const Json& message) {
  const std::string text = message.dump() + "\n";
  const Instant until = clock_.now() + kSendMax;
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(fd_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      if (clock_.now() >= until) return Error{Code::timed_out, "the connection takes no more"};
      wait_for(fd_.get(), POLLOUT, until, clock_);
    } else if (n < 0 && errno != EINTR) {
      return errno_error("the connection broke");
    }
  }
  return {};
}

// False: nothing to read now.
Result<bool> Line::read_more() {
  std::array<char, 4096> bytes;
  const ssize_t n = ::recv(fd_.get(), bytes.data(), bytes.size(), 0);
  if (n > 0) {
    read_at_ = clock_.now();
    buffer_.append(bytes.data(), static_cast<std::size_t>(n));
    return true;
  }
  if (n == 0) return Error{Code::io, "the connection was closed"};
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return false;
  return errno_error("the connection broke");
}

void Line::finish(Instant until) {
  ::shutdown(fd_.get(), SHUT_WR);
  while (clock_.now() < until) {
    buffer_.clear();
    const auto more = read_more();
    if (!more) return;
    if (!*more) wait_for(fd_.get(), POLLIN, until, clock_);
  }
}

Result<std::optional<Heard>> Line::receive(Instant until) {
  for (;;) {
    const std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      auto message = Json::parse(std::string_view(buffer_).substr(0, end));
      buffer_.erase(0, end + 1);
      if (!message || !message->is_object()) {
        return Error{Code::corrupt, "a line that is not a JSON object"};
      }
      return std::optional<Heard>({*std::move(message), read_at_});
    }
    if (buffer_.size() > kLineMax) return Error{Code::corrupt, "a line that does not end"};
    ASSIGN_OR_RETURN(const bool more, read_more());
    if (more) continue;
    if (clock_.now() >= until) return std::optional<Heard>();
    wait_for(fd_.get(), POLLIN, until, clock_);
  }
}

}  // namespace assay::ranks
