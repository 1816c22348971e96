// What an answer holds before a level was measured or a price given.
#include <gtest/gtest.h>

#include "base/testing_together.h"
#include "decide/cost.h"
#include "decide/limit.h"
#include "decide/rank.h"
#include "decide/served.h"
#include "decide/system.h"
#include "decide/terms.h"

namespace assay::decide {
namespace {

TEST(NothingKnown, an_answer_serves_no_user_and_costs_nothing) {
  EXPECT_EQ(together(Price{}.usd_per_hour, Capacity{}.users_per_system, CostLine{}.given), 0);
  EXPECT_EQ(together(Limit{}.at_least, Limit{}.value, Limit{}.percentile, Lot{}.size), 0);
  EXPECT_EQ(together(Level{}.concurrency, Level{}.failed, Use{}.limit, Use{}.share), 0);
  EXPECT_TRUE(Level{}.answered);
  EXPECT_EQ(together(Served{}.users, Served{}.measured, Served{}.open()), 0);
}

TEST(NothingKnown, a_contender_is_measured_closed_and_like_the_others) {
  EXPECT_EQ(together(Contender{}.open, Contender{}.simulated, Ranking{}.mixed,
                     Ranking{}.unlike_accuracy, RankWords{}.whole),
            0);
  EXPECT_EQ(together(System{}.simulated, SystemAnswer{}.simulated), 0);
}

}  // namespace
}  // namespace assay::decide
