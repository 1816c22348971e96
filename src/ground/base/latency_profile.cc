#include "base/latency_profile.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <thread>

#include "base/format.h"

namespace assay {
namespace {

// The kernel's struct sched_attr (include/uapi/linux/sched/types.h), which glibc 2.36 has not.
struct SchedulerAttributes {
  std::uint32_t size = sizeof(SchedulerAttributes);
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  // ns; of the normal policy: the slice
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
  std::uint32_t util_min = 0;
  std::uint32_t util_max = 0;
};

constexpr std::uint64_t kShortestSlice = 100'000;  // the kernel takes no shorter one

bool get_attributes(SchedulerAttributes& out) {
  return ::syscall(SYS_sched_getattr, 0, &out, sizeof out, 0) == 0;
}

}  // namespace

LatencyProfile::LatencyProfile(const LatencyWishes& wishes) {
  if (wishes.cpu_wake_latency) ask_wake_latency();
  if (wishes.timer_slack) ask_timer_slack();
  if (wishes.descriptors) ask_descriptors();
  if (wishes.locked_memory) ask_locked_memory();
}

LatencyProfile::~LatencyProfile() {
  if (wake_latency_fd_ >= 0) ::close(wake_latency_fd_);
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

LatencySetting ask_short_slice() {
  LatencySetting out{.name = "short_slice"};
  SchedulerAttributes attributes{};
  if (!get_attributes(attributes)) {
    out.detail = std::strerror(errno);
    return out;
  }
  if (attributes.policy != SCHED_OTHER) {
    out.detail = "the thread has a policy of its own";
    return out;
  }
  attributes.runtime = kShortestSlice;
  const bool taken = ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0;
  out.detail = taken ? "needs Linux 6.12" : std::strerror(errno);
  // Earlier kernels take the call and ignore the slice.
  SchedulerAttributes now{};
  out.granted = taken && get_attributes(now) && now.runtime == kShortestSlice;
  if (out.granted) out.detail = "0.1 ms";
  return out;
}

LatencySetting ask_realtime() {
  LatencySetting out{.name = "realtime"};
  const sched_param lowest{.sched_priority = 1};
  out.granted = ::sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
  out.detail = out.granted ? "SCHED_FIFO 1" : std::strerror(errno);
  return out;
}

Result<void> check_realtime() {
  // A thread of its own asks, so that the caller keeps its policy.
  LatencySetting answer;
  std::thread([&answer] { answer = ask_realtime(); }).join();
  if (answer.granted) return {};
  return invalid(format("--realtime: {}\n  it needs CAP_SYS_NICE, or ulimit -r 1; leave it out",
                        answer.detail));
}

PromptThread::PromptThread()
    : slack_ns_(static_cast<unsigned long>(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0))) {
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
  SchedulerAttributes before{};
  if (get_attributes(before) && ask_short_slice().granted) slice_ns_ = before.runtime;
}

PromptThread::~PromptThread() {
  ::prctl(PR_SET_TIMERSLACK, slack_ns_, 0, 0, 0);
  SchedulerAttributes attributes{};
  if (slice_ns_ == 0 || !get_attributes(attributes)) return;
  attributes.runtime = slice_ns_;
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
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
