#include "base/latency_profile.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
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

}  // namespace
}  // namespace assay
