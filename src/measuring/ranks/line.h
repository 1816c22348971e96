// Line: JSON messages, one a line, over a connected socket. It stamps each line by the own clock
// when its bytes were read. For a few messages a second: it allocates, and send() waits.
//
// One thread.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"
#include "net/socket.h"

namespace assay::ranks {

struct Heard {
  Json message{};
  Instant at{};  // when its last bytes were read, or before
};

class Line {
 public:
  explicit Line(net::Fd fd) : fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  Result<void> send(const Json& message);
  // The next whole line; nullopt if none has come by `until` (at least one look is taken). Fails
  // where the peer has closed, where a line is too long, and where it is no JSON object.
  Result<std::optional<Heard>> receive(Instant until);
  // No more will be sent. What the peer still sends is read and discarded until it closes too, at
  // most until `until`: closing with bytes unread would reset the connection, and the peer could
  // lose the last message.
  void finish(Instant until);

 private:
  Result<bool> read_more();

  net::Fd fd_;
  OsClock clock_{};
  std::string buffer_{};
  Instant read_at_{};
};

}  // namespace assay::ranks
