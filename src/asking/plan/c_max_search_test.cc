#include "plan/c_max_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace assay::plan {
namespace {

// A system whose throughput grows with concurrency up to `knee` and stays there.
std::int64_t found_for(std::int64_t knee, std::int64_t most, int& asked) {
  CMaxSearch search(kCMaxLeast, most, kCMaxLeast);
  asked = 0;
  while (const auto level = search.next()) {
    EXPECT_GE(*level, kCMaxLeast);
    EXPECT_LE(*level, most);
    EXPECT_LT(++asked, 30);
    search.tell(*level, static_cast<double>(std::min(*level, knee)), true);
  }
  return search.good();
}

TEST(CMaxSearch, FindsTheLevelBeyondWhichThroughputHardlyGrows) {
  int asked = 0;
  for (std::int64_t knee = 34; knee < 2000; knee += 1 + knee / 5) {
    const std::int64_t found = found_for(knee, 4096, asked);
    EXPECT_GE(static_cast<double>(found), 0.9 * static_cast<double>(knee)) << knee;
    // A level near the knee is still good while its gain is large enough.
    EXPECT_LE(found, 2 * knee) << knee;
    EXPECT_LE(asked, 14) << knee;
  }
}

TEST(CMaxSearch, AFailedQueryEndsWhatThroughputWouldNot) {
  CMaxSearch search(34, 4096, 34);
  while (const auto level = search.next()) {
    search.tell(*level, static_cast<double>(*level), *level <= 100);
  }
  EXPECT_LE(search.good(), 100);
  EXPECT_GE(search.good(), 95);
  EXPECT_GT(search.bad(), 100);
}

TEST(CMaxSearch, AsksNothingBelowTheLeast) {
  CMaxSearch search(34, 4096, 34);
  int asked = 0;
  while (const auto level = search.next()) {
    ++asked;
    search.tell(*level, 1, false);
  }
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(search.good(), 0);
  EXPECT_EQ(search.bad(), 34);
}

TEST(CMaxSearch, LeavesRoomForAnOfflineOfItsOwn) {
  CurveWish wish;
  wish.rows = 500;
  EXPECT_EQ(c_max_range(wish).most, 499);
  EXPECT_EQ(c_max_range(wish).least, 34);
  wish.offline = Offline::elected;
  EXPECT_EQ(c_max_range(wish).most, 4096);
  wish.offline = Offline::dedicated;
  wish.rows = 100'000;
  EXPECT_EQ(c_max_range(wish).most, 4096);
  wish.quick = true;
  EXPECT_EQ(c_max_range(wish).most, 128);
  // Too few rows for Offline as a run of its own at any C_max.
  wish.rows = 20;
  EXPECT_EQ(c_max_range(wish).most, 128);
}

}  // namespace
}  // namespace assay::plan
