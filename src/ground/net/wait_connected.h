// Waits until a socket that start_connect() began is connected, for a caller that has nothing else
// to do. Blocks; any thread.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "net/poller.h"
#include "net/socket.h"

namespace assay::net {

// The poller that waited, with the socket in it under the tag 0. Fails with the socket's own reason
// (Code::refused), or at `deadline` (Code::timed_out).
Result<Poller> wait_connected(const Fd& fd, const Clock& clock, Instant deadline);

}  // namespace assay::net
