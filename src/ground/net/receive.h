// Sends, and receives with the kernel's stamp: the time when a read's last byte came to the host.
//
// Software receive stamps (SO_TIMESTAMPNS) work for TCP on Linux, loopback included. The kernel
// takes some 4 % of a small query's time for them. They are CLOCK_REALTIME; StampClock maps them to
// the monotonic clock and keeps the error of that mapping. Some reads have no stamp (a Unix socket,
// the first read after switching on, another system): the caller then uses the instant of its own
// read.
//
// One thread.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "base/clock.h"
#include "net/socket.h"

namespace assay::net {

// Switches receive stamps on. False where the kernel has none.
bool enable_receive_stamps(const Fd& fd);

struct Received {
  ssize_t bytes = 0;  // > 0: bytes read; 0: the peer closed; < 0: see error
  int error = 0;      // errno: EAGAIN when there is nothing to read
  WallTime stamp{};   // ns == 0: none came
};
Received receive_stamped(const Fd& fd, char* buffer, std::size_t size);
// The same without asking for a stamp.
Received receive(const Fd& fd, char* buffer, std::size_t size);

// Sends what the kernel takes of `bytes`; returns how many, or < 0 and errno. No SIGPIPE.
ssize_t send_some(const Fd& fd, std::string_view bytes);
inline constexpr std::size_t kPiecesMax = 8;
// Sends several pieces, kPiecesMax at most, in one call.
ssize_t send_some(const Fd& fd, std::span<const std::string_view> pieces);

// Maps wall-clock stamps to instants. Call refresh() now and then: NTP slews the wall clock, and
// any administrator may set it.
class StampClock {
 public:
  // A stamp this far out of range means that the clock was set since the last refresh.
  static constexpr Duration kStep{10'000'000};

  StampClock() : StampClock(sample_clock_offset()) {}
  // For tests: an offset from before the clock was set.
  explicit StampClock(const ClockOffset& offset) : offset_(offset), error_max_(offset.error) {}
  void refresh() { refresh(sample_clock_offset()); }
  void refresh(const ClockOffset& fresh);
  // Maps a stamp. The result is never later than `read`, the instant of the read; the bytes came no
  // earlier than `not_before`. none(): the stamp is from before the clock was set, and useless.
  Instant arrival(WallTime stamp, Instant not_before, Instant read) {
    const Instant at = plausible(stamp, not_before, read);
    return at.known() ? at : arrival_anew(stamp, not_before, read);
  }
  // The largest error that any mapping so far had.
  Duration error_max() const { return error_max_; }
  // How far the wall clock moved against the monotonic one between refreshes, at most.
  Duration slew_max() const { return slew_max_; }

 private:
  // The stamp's instant; none() where it is impossible.
  Instant plausible(WallTime stamp, Instant not_before, Instant read) const {
    const Instant at{stamp.ns - offset_.wall_minus_monotonic.ns};
    if (at + kStep < not_before || read + kStep < at) return Instant::none();
    return std::min(at, read);
  }
  Instant arrival_anew(WallTime stamp, Instant not_before, Instant read);

  ClockOffset offset_;
  Duration error_max_;
  Duration slew_max_{};
};

}  // namespace assay::net
