#include "net/wait_connected.h"

#include <cerrno>
#include <cstring>

namespace assay::net {

Result<Poller> wait_connected(const Fd& fd, const Clock& clock, Instant deadline) {
  ASSIGN_OR_RETURN(Poller poller, Poller::open(8));
  TRY(poller.add(fd.get(), 0));
  for (;;) {
    const int error = connect_result(fd);
    if (error == 0) return poller;
    if (error != EINPROGRESS && error != EALREADY) {
      return Error{Code::refused, std::strerror(error)};
    }
    const Instant now = clock.now();
    if (now >= deadline) return Error{Code::timed_out, "no connection in time"};
    poller.wait(deadline - now);
  }
}

}  // namespace assay::net
