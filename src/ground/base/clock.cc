#include "base/clock.h"

#include <cerrno>
#include <ctime>

namespace assay {
namespace {

std::int64_t read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

}  // namespace

Instant OsClock::now() const { return {read_clock(CLOCK_MONOTONIC)}; }

void OsClock::sleep_until(Instant until) {
  const timespec t{until.ns / 1'000'000'000, until.ns % 1'000'000'000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

WallTime wall_now() { return {read_clock(CLOCK_REALTIME)}; }

ClockOffset sample_clock_offset() {
  constexpr int kTries = 16;  // the tightest of these counts: a preempted reading is discarded
  ClockOffset best{.error = Duration::max()};
  for (int i = 0; i < kTries; ++i) {
    const std::int64_t before = read_clock(CLOCK_MONOTONIC);
    const std::int64_t wall = read_clock(CLOCK_REALTIME);
    const std::int64_t after = read_clock(CLOCK_MONOTONIC);
    const Duration error{(after - before + 1) / 2};
    if (error < best.error) best = {{wall - (before + (after - before) / 2)}, error};
  }
  return best;
}

}  // namespace assay
