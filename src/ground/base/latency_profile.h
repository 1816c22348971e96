// LatencyProfile: asks the machine for low latency and records what it granted. A sleeping core
// that takes 70 µs to wake adds that time to every latency; a run records which settings it had.
//
// Each setting is tried and recorded; none is required. CPU wake latency holds while the object
// lives; the rest holds for the process and the calling thread. Make the object before the
// measuring threads start: they inherit timer slack. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace assay {

struct LatencySetting {
  // cpu_wake_latency, timer_slack, descriptors, locked_memory, short_slice, realtime
  std::string name{};
  bool asked = true;
  bool granted = false;
  std::string detail{};  // what is in force, or why it was refused
};

struct LatencyWishes {
  bool cpu_wake_latency = true;  // /dev/cpu_dma_latency at 0: cores never sleep deeply; needs root
  bool timer_slack = true;       // timers fire when they are due, not up to 50 µs later
  bool descriptors = true;       // as many as the hard limit allows
  bool locked_memory = false;    // none of our pages is ever swapped out
  bool short_slice = true;       // of the measuring threads: see ask_short_slice()
  bool realtime = false;         // of the measuring threads: see ask_realtime()
};

class LatencyProfile {
 public:
  explicit LatencyProfile(const LatencyWishes& wishes);
  LatencyProfile(const LatencyProfile&) = delete;
  LatencyProfile& operator=(const LatencyProfile&) = delete;
  ~LatencyProfile();

  const std::vector<LatencySetting>& settings() const { return settings_; }

 private:
  void ask_wake_latency();
  void ask_timer_slack();
  void ask_descriptors();
  void ask_locked_memory();
  void add(std::string_view name, bool granted, std::string detail);

  std::vector<LatencySetting> settings_{};
  int wake_latency_fd_ = -1;
};

// Asks for the shortest time slice for the calling thread: when it wakes, the kernel then takes the
// core from a thread with a longer slice at once, and not when that slice ends, 2 to 3 ms later.
// Needs no privilege; Linux 6.12 and later. docs/decisions/0070.
LatencySetting ask_short_slice();

// Puts the calling thread before all ordinary programs and most threads of the kernel: it has the
// core as soon as it wakes, until it sleeps (SCHED_FIFO, the lowest priority). Needs CAP_SYS_NICE
// or a limit of real-time priority (`ulimit -r 1`). A thread that never sleeps must not ask: the
// kernel takes the core from it for 50 ms of each second, and nothing else runs meanwhile.
LatencySetting ask_realtime();
// Why ask_realtime() would be refused; invalid_argument. The calling thread stays as it is.
Result<void> check_realtime();

// PromptThread: while it lives, the calling thread has both the shortest slice and timers that fire
// when they are due; then it has its former values again. For a thread that belongs to a program
// that is not ours. Must end in the thread that made it.
class PromptThread {
 public:
  PromptThread();
  PromptThread(const PromptThread&) = delete;
  PromptThread& operator=(const PromptThread&) = delete;
  ~PromptThread();

 private:
  unsigned long slack_ns_ = 0;
  std::uint64_t slice_ns_ = 0;  // 0: it was not changed
};

// Binds the calling thread to one core. Returns whether the kernel agreed.
bool pin_to_core(int core);
// The cores that this process may use.
std::vector<int> usable_cores();

}  // namespace assay
