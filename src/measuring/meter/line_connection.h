// A TCP connection of commands and replies, a line each (CRLF), with stretches of bytes between: as
// SPEC's PTDaemon and the power director of MLCommons speak. It blocks, up to a deadline a call.
// The clock must outlive it. One thread.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/poller.h"
#include "net/socket.h"

namespace assay::meter {

class LineConnection {
 public:
  static Result<LineConnection> open(const std::string& host, std::uint16_t port,
                                     const Clock& clock, Instant deadline);

  Result<void> say(std::string_view line, Instant deadline);
  // Without its end; a line of more than 64 KiB is an error.
  Result<std::string> read_line(Instant deadline);
  Result<std::string> read_bytes(std::size_t count, Instant deadline);
  Result<std::string> ask(std::string_view line, Instant deadline);

 private:
  LineConnection(net::Fd fd, net::Poller poller, const Clock& clock)
      : fd_(std::move(fd)), poller_(std::move(poller)), clock_(&clock) {}
  static Result<LineConnection> connect(const net::Address& address, const Clock& clock,
                                        Instant deadline);
  bool wait(Instant deadline);
  // Receives once; an error where nothing more comes.
  Result<void> receive(Instant deadline);

  net::Fd fd_;
  net::Poller poller_;
  const Clock* clock_;
  std::string bytes_{};
};

}  // namespace assay::meter
