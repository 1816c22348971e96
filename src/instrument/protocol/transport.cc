#include "protocol/transport.h"

#include <cerrno>

namespace assay::protocol {
namespace {

// After [DONE] only framing is missing; a server that holds it back for longer loses the
// connection. So does a server whose failed reply goes on: the target waits a little longer for its
// text.
constexpr Duration kFramingMax = 250_ms;
constexpr Duration kFailedMax = 1_s;

}  // namespace

void TransportShared::watch_framing(Slot& slot, Instant now) {
  if (!slot.exchange.settled() || slot.framing_watched) return;
  slot.framing_watched = true;
  const bool done = slot.exchange.done_marker();
  auto& deadlines = done ? framing_deadlines : failed_deadlines;
  deadlines.push_back({now + (done ? kFramingMax : kFailedMax), &slot, slot.serial});
}

Outcome outcome_of(int error) { return error == ETIMEDOUT ? Outcome::timed_out : Outcome::reset; }

}  // namespace assay::protocol
