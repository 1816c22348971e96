#include "plan/level_search.h"

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

TEST(LevelSearch, FindsEveryBoundaryWithFewMeasurements) {
  for (std::int64_t boundary = 0; boundary <= 2000; boundary += 1 + boundary / 7) {
    LevelSearch search(16, 4096, 0.05);
    int asked = 0;
    while (const auto level = search.next()) {
      ASSERT_LT(++asked, 30) << boundary;
      search.tell(*level, *level <= boundary);
    }
    EXPECT_LE(search.good(), boundary);
    EXPECT_GT(search.bad(), boundary);
    const double low = static_cast<double>(search.good());
    EXPECT_TRUE(search.bad() - search.good() <= 1 ||
                static_cast<double>(search.bad()) <= 1.05 * low)
        << boundary;
    EXPECT_LE(asked, 14) << boundary;
  }
}

TEST(LevelSearch, EndsAtTheMostThatMayBeAsked) {
  LevelSearch search(16, 100, 0.05);
  while (const auto level = search.next()) search.tell(*level, true);
  EXPECT_EQ(search.good(), 100);
  EXPECT_EQ(search.bad(), 0);
}

}  // namespace
}  // namespace assay::plan
