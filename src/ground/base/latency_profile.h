// LatencyProfile: what a measuring process asks of its machine, and what it was granted. A sleeping
// core that takes 70 µs to wake is in every latency it measures; a run says which of these it had.
//
// Each is tried and recorded; none is required. Settings hold while the object lives (CPU wake
// latency) or for the process and the calling thread (the rest). Make it before the measuring
// threads start: they inherit timer slack. One thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace assay {

struct LatencySetting {
  std::string name{};  // cpu_wake_latency, timer_slack, descriptors, locked_memory, affinity
  bool asked = true;
  bool granted = false;
  std::string detail{};  // what holds now, or why it was refused
};

struct LatencyWishes {
  bool cpu_wake_latency = true;  // /dev/cpu_dma_latency at 0: cores never sleep deeply; needs root
  bool timer_slack = true;       // timers fire when they are due, not up to 50 µs later
  bool descriptors = true;       // as many as the hard limit allows
  bool locked_memory = false;    // no page of ours is ever swapped out
};

class LatencyProfile {
 public:
  explicit LatencyProfile(const LatencyWishes& wishes);
  LatencyProfile(const LatencyProfile&) = delete;
  LatencyProfile& operator=(const LatencyProfile&) = delete;
  ~LatencyProfile();

  const std::vector<LatencySetting>& settings() const { return settings_; }
  bool granted(std::string_view name) const;

 private:
  void ask_wake_latency();
  void ask_timer_slack();
  void ask_descriptors();
  void ask_locked_memory();
  void add(std::string_view name, bool granted, std::string detail);

  std::vector<LatencySetting> settings_{};
  int wake_latency_fd_ = -1;
};

// Binds the calling thread to one core. Returns whether the kernel agreed.
bool pin_to_core(int core);
// The cores that this process may use.
std::vector<int> usable_cores();

}  // namespace assay
