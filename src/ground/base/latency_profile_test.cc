#include "base/latency_profile.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <thread>

namespace assay {
namespace {

// The fourth number of struct sched_attr is `runtime`.
std::uint64_t slice_ns() {
  std::array<std::uint64_t, 7> attributes{};
  EXPECT_EQ(::syscall(SYS_sched_getattr, 0, attributes.data(), sizeof attributes, 0), 0);
  return attributes[3];
}

TEST(PromptThread, leaves_a_thread_as_it_was) {
  std::thread([] {
    ::prctl(PR_SET_TIMERSLACK, 70'000UL, 0, 0, 0);
    const std::uint64_t before = slice_ns();
    {
      const PromptThread prompt;
      EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 1);
      const std::uint64_t within = slice_ns();
      EXPECT_TRUE(within == before || within == 100'000) << within;  // before Linux 6.12: as it was
    }
    EXPECT_EQ(::prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0), 70'000);
    EXPECT_EQ(slice_ns(), before);
  }).join();
}

TEST(RealtimeThread, goes_before_others_where_the_system_lets_it_and_else_says_why_not) {
  std::thread([] {
    const LatencySetting answer = ask_realtime();
    EXPECT_EQ(answer.name, "realtime");
    sched_param parameters{};
    ASSERT_EQ(::sched_getparam(0, &parameters), 0);
    EXPECT_EQ(::sched_getscheduler(0), answer.granted ? SCHED_FIFO : SCHED_OTHER);
    EXPECT_EQ(parameters.sched_priority, answer.granted ? 1 : 0);
    EXPECT_EQ(answer.detail, answer.granted ? "SCHED_FIFO 1" : "Operation not permitted");
  }).join();
}

TEST(RealtimeThread, a_check_leaves_the_caller_as_it_is_and_says_what_is_needed) {
  std::thread([] {
    const Result<void> allowed = check_realtime();
    EXPECT_EQ(::sched_getscheduler(0), SCHED_OTHER);
    EXPECT_EQ(static_cast<bool>(allowed), ask_realtime().granted);
    if (!allowed) {
      EXPECT_NE(allowed.error().message.find("ulimit -r"), std::string::npos);
    }
  }).join();
}

TEST(RealtimeThread, is_refused_with_what_it_needs_where_the_limit_is_zero) {
  // A child without rights: the policy of this process stays as it is.
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_RTPRIO, &none) != 0 || (::getuid() == 0 && ::setuid(65534) != 0)) {
      ::_exit(2);
    }
    const Result<void> allowed = check_realtime();
    ::_exit(!allowed && allowed.error().message.find("CAP_SYS_NICE") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace assay
