#include "plan/memory_rule.h"

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

TEST(MemoryRule, is_a_size_or_a_share) {
  EXPECT_EQ(memory_rule("512M")->bytes, 512U << 20);
  EXPECT_EQ(memory_rule("512 MiB")->bytes, 512U << 20);
  EXPECT_EQ(memory_rule("1.5g")->bytes, 3U << 29);
  EXPECT_EQ(memory_rule("2000000b")->bytes, 2'000'000U);
  EXPECT_EQ(memory_rule("2000000")->bytes, 2'000'000U);
  EXPECT_EQ(memory_rule("10%")->bytes, 0U);
  EXPECT_DOUBLE_EQ(memory_rule(" 12.5 % ")->share, 0.125);
  EXPECT_DOUBLE_EQ(memory_rule("")->share, 0.25);
  for (const char* wrong :
       {"much", "-1M", "0", "0%", "101%", "1X", "5 5", "nan%", "inf", "1K", "1e30", "%", "M"}) {
    EXPECT_FALSE(memory_rule(wrong)) << wrong;
  }
}

TEST(MemoryRule, a_share_is_of_what_the_process_may_use) {
  EXPECT_EQ(memory_bytes({}, std::uint64_t{8} << 30), std::uint64_t{2} << 30);
  EXPECT_EQ(memory_bytes({.bytes = 5'000'000}, 1), 5'000'000U);
  EXPECT_EQ(memory_bytes({}, 0), std::uint64_t{1} << 30);
  EXPECT_EQ(memory_bytes({}, 4096), MemoryRule::kLeastBytes);
}

}  // namespace
}  // namespace assay::plan
