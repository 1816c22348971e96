#include "net/wait_connected.h"

#include <cstring>

namespace assay::net {
namespace {

constexpr std::uint64_t kOnlyKey = 0;

}  // namespace

Result<Poller> wait_connected(const Fd& fd, const Clock& clock, Instant deadline) {
  ASSIGN_OR_RETURN(Poller poller, Poller::open(8));
  TRY(poller.add(fd.get(), kOnlyKey));
  for (;;) {
    const Duration left = deadline - clock.now();
    if (poller.wait(left).empty()) {
      if (left <= Duration{}) return Error{Code::timed_out, "no connection in time"};
      continue;
    }
    // Only a writable socket has a result: before, there is no error either.
    const int error = connect_result(fd);
    if (error != 0) return Error{Code::refused, std::strerror(error)};
    // This wait took an edge that may have announced the peer's first bytes too.
    poller.remove(fd.get());
    TRY(poller.add(fd.get(), kOnlyKey));
    return poller;
  }
}

}  // namespace assay::net
