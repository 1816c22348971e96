#include "meter/line_connection.h"

#include <array>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/text.h"
#include "net/receive.h"
#include "net/wait_connected.h"

namespace assay::meter {
namespace {

constexpr std::size_t kReplyLineMax = std::size_t{64} << 10;

}  // namespace

Result<LineConnection> LineConnection::open(const std::string& host, std::uint16_t port,
                                            const Clock& clock, Instant deadline) {
  ASSIGN_OR_RETURN(const auto addresses, net::resolve(host, port));
  Error last{Code::refused, "no address"};
  for (const net::Address& address : addresses) {
    auto connected = connect(address, clock, deadline);
    if (connected) return connected;
    last = connected.error().within(address.to_string());
  }
  return last;
}

Result<LineConnection> LineConnection::connect(const net::Address& address, const Clock& clock,
                                               Instant deadline) {
  ASSIGN_OR_RETURN(net::Fd fd, net::start_connect(address));
  ASSIGN_OR_RETURN(net::Poller poller, net::wait_connected(fd, clock, deadline));
  return LineConnection(std::move(fd), std::move(poller), clock);
}

bool LineConnection::wait(Instant deadline) {
  const Instant now = clock_->now();
  if (now >= deadline) return false;
  poller_.wait(deadline - now);
  return true;
}

Result<void> LineConnection::receive(Instant deadline) {
  std::array<char, 16384> buffer{};
  for (;;) {
    const net::Received got = net::receive(fd_, buffer.data(), buffer.size());
    if (got.bytes > 0) {
      bytes_.append(buffer.data(), static_cast<std::size_t>(got.bytes));
      return {};
    }
    if (got.bytes == 0) return Error{Code::io, "the other side closed the connection"};
    if (got.error != EAGAIN) return Error{Code::io, std::strerror(got.error)};
    if (!wait(deadline)) return Error{Code::timed_out, "no reply in time"};
  }
}

Result<void> LineConnection::say(std::string_view line, Instant deadline) {
  const std::string whole = format("{}\r\n", line);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const ssize_t n = net::send_some(fd_, rest);
    if (n > 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EAGAIN || !wait(deadline)) {
      return Error{Code::io, "the connection is lost"};
    }
  }
  return {};
}

Result<std::string> LineConnection::read_line(Instant deadline) {
  for (;;) {
    const std::size_t end = bytes_.find('\n');
    if (end != std::string::npos) {
      std::string line(trim(std::string_view(bytes_).substr(0, end)));
      bytes_.erase(0, end + 1);
      return line;
    }
    if (bytes_.size() > kReplyLineMax) return Error{Code::corrupt, "a line without an end"};
    TRY(receive(deadline));
  }
}

Result<std::string> LineConnection::read_bytes(std::size_t count, Instant deadline) {
  while (bytes_.size() < count) TRY(receive(deadline));
  std::string out = bytes_.substr(0, count);
  bytes_.erase(0, count);
  return out;
}

Result<std::string> LineConnection::ask(std::string_view line, Instant deadline) {
  TRY(say(line, deadline));
  return read_line(deadline);
}

}  // namespace assay::meter
