#include "base/latency_profile.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/format.h"

namespace assay {

LatencyProfile::LatencyProfile(const LatencyWishes& wishes) {
  if (wishes.cpu_wake_latency) ask_wake_latency();
  if (wishes.timer_slack) ask_timer_slack();
  if (wishes.descriptors) ask_descriptors();
  if (wishes.locked_memory) ask_locked_memory();
}

LatencyProfile::~LatencyProfile() {
  if (wake_latency_fd_ >= 0) ::close(wake_latency_fd_);
}

bool LatencyProfile::granted(std::string_view name) const {
  for (const LatencySetting& setting : settings_) {
    if (setting.name == name) return setting.granted;
  }
  return false;
}

void LatencyProfile::add(std::string_view name, bool granted, std::string detail) {
  settings_.push_back({.name = std::string(name), .granted = granted, .detail = std::move(detail)});
}

// The kernel keeps the request while the file is open (Documentation/power/pm_qos_interface).
void LatencyProfile::ask_wake_latency() {
  wake_latency_fd_ = ::open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
  const std::int32_t microseconds = 0;
  const bool granted = wake_latency_fd_ >= 0 && ::write(wake_latency_fd_, &microseconds,
                                                        sizeof microseconds) == sizeof microseconds;
  add("cpu_wake_latency", granted, granted ? "0 µs" : std::strerror(errno));
}

void LatencyProfile::ask_timer_slack() {
  const bool granted = ::prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0) == 0;
  add("timer_slack", granted, granted ? "1 ns" : std::strerror(errno));
}

void LatencyProfile::ask_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  const bool granted = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
  ::getrlimit(RLIMIT_NOFILE, &limit);
  add("descriptors", granted, format("{}", limit.rlim_cur));
}

void LatencyProfile::ask_locked_memory() {
  const bool granted = ::mlockall(MCL_CURRENT | MCL_FUTURE) == 0;
  add("locked_memory", granted, granted ? "all" : std::strerror(errno));
}

bool pin_to_core(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  return ::sched_setaffinity(0, sizeof set, &set) == 0;
}

std::vector<int> usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(static_cast<std::size_t>(core), &set)) cores.push_back(core);
  }
  return cores;
}

}  // namespace assay
