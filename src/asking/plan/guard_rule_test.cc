#include "plan/guard_rule.h"

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

TEST(GuardRule, failures_are_a_number_or_a_share) {
  EXPECT_EQ(guard_rule({.max_failures = "20"})->failures_max, 20U);
  EXPECT_EQ(guard_rule({.max_failures = "20"})->failed_share_max, 1);
  EXPECT_EQ(guard_rule({.max_failures = "0"})->failures_max, 0U);
  EXPECT_DOUBLE_EQ(guard_rule({.max_failures = "2.5%"})->failed_share_max, 0.025);
  EXPECT_DOUBLE_EQ(guard_rule({.max_failures = " 5 % "})->failed_share_max, 0.05);
  EXPECT_EQ(guard_rule({.max_failures = "5%"})->failures_max, GuardRule{}.failures_max);
  for (const char* wrong : {"five", "-1", "1.5", "%", "101%", "-1%", "5%%", "nan%", "5 6"}) {
    EXPECT_FALSE(guard_rule({.max_failures = wrong})) << wrong;
  }
}

TEST(GuardRule, a_run_is_guarded_against_refusals_unless_it_is_told_not_to_be) {
  EXPECT_EQ(guard_rule({})->fatal_max, 20U);
  EXPECT_EQ(guard_rule({.stop_when_refused = false})->fatal_max, 0U);
}

TEST(GuardRule, prices_are_of_a_million_tokens) {
  const auto rule = guard_rule({.max_cost = 3.0, .price_in = 2.0, .price_out = 8.0});
  EXPECT_DOUBLE_EQ(rule->cost_max, 3);
  EXPECT_DOUBLE_EQ(rule->price_in, 2e-6);
  EXPECT_DOUBLE_EQ(rule->price_out, 8e-6);
}

}  // namespace
}  // namespace assay::plan
