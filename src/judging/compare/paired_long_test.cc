// How often a verdict on pairs is right, over hundreds of them. Seeds are fixed, so a count is the
// same on every machine.
#include <gtest/gtest.h>

#include "compare/paired.h"
#include "compare/testing_turns.h"

namespace assay::compare {
namespace {

TEST(Paired, one_server_asked_in_turns_raises_a_false_alarm_in_at_most_one_of_twenty) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Turns turns = record_turns({.drift = 0.2}, seed + 1);
    // Without a margin every true difference would count, and there is none.
    const Comparison c = compare(turns, {.regression_margin = 0, .replicates = 100, .seed = seed});
    ASSERT_TRUE(c.comparable()) << c.refusals[0];
    ASSERT_EQ(c.pairs, 20U);
    if (c.worse()) ++alarms;
  }
  RecordProperty("false_alarms_of_200", alarms);
  EXPECT_LE(alarms, 10);
}

TEST(Paired, a_tpot_three_percent_worse_is_found_nine_times_in_ten) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Turns turns = record_turns({.wander = 0.01, .drift = 0.2, .b_tpot = 10.3}, seed + 1001);
    const Comparison c = compare(turns, {.replicates = 100, .seed = seed});
    ASSERT_TRUE(c.comparable());
    if (tpot_worse(c)) ++found;
  }
  RecordProperty("found_of_200", found);
  EXPECT_GE(found, 180);
}

}  // namespace
}  // namespace assay::compare
