#include "plan/curve_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace assay::plan {
namespace {

CurveWish wish_of(std::int64_t c_max, std::uint32_t spare = 1) {
  CurveWish wish;
  wish.c_max = c_max;
  wish.spare = spare;
  wish.rows = 200'000;
  return wish;
}

std::vector<std::int64_t> levels_of(const CurvePlan& plan) {
  std::vector<std::int64_t> out;
  for (const CurvePoint& point : plan.points) {
    if (point.offline != Offline::dedicated) out.push_back(point.concurrency);
  }
  return out;
}

int accurate(const CurvePlan& plan) {
  return static_cast<int>(std::ranges::count_if(plan.points, &CurvePoint::accuracy));
}

const CurvePoint& at_c_max(const CurvePlan& plan) {
  const auto found = std::ranges::find(plan.points, plan.c_max, &CurvePoint::concurrency);
  CHECK(found != plan.points.end());
  return *found;
}

TEST(CurvePlan, TheLeastCurveHasEightPointsAndAccuracyAtFive) {
  const auto plan = plan_curve(wish_of(1024, 0));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->points.size(), 8U);
  EXPECT_EQ(accurate(*plan), 5);
  EXPECT_TRUE(plan->official);
  EXPECT_EQ(plan->points.front().concurrency, 1);
  EXPECT_EQ(plan->points.back().offline, Offline::dedicated);
  EXPECT_EQ(plan->points.back().concurrency, 200'000);
  EXPECT_EQ(plan->points[6].concurrency, 1024);
}

TEST(CurvePlan, AnElectedOfflineSavesAPoint) {
  CurveWish wish = wish_of(1024, 0);
  wish.offline = Offline::elected;
  const auto plan = plan_curve(wish);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->points.size(), 7U);
  EXPECT_EQ(accurate(*plan), 4) << "C_max's result answers for High and for Offline";
  EXPECT_EQ(plan->points.back().offline, Offline::elected);
  EXPECT_TRUE(plan->points.back().accuracy);
}

TEST(CurvePlan, EveryRegionHasOnePointOfItsOwnAndChoicesHaveNoAccuracy) {
  for (const std::int64_t c_max : {33, 34, 40, 64, 100, 256, 1000, 4096, 100'000}) {
    for (const std::uint32_t spare : {0U, 1U, 3U}) {
      const auto plan = plan_curve(wish_of(c_max, spare));
      ASSERT_TRUE(plan) << c_max;
      SCOPED_TRACE(c_max);
      EXPECT_TRUE(missing_points(levels_of(*plan), c_max, Offline::dedicated).empty());
      EXPECT_EQ(accurate(*plan), 5);
      std::vector<std::int64_t> levels = levels_of(*plan);
      EXPECT_TRUE(std::ranges::is_sorted(levels));
      EXPECT_EQ(std::ranges::adjacent_find(levels), levels.end());
      EXPECT_EQ(levels.back(), c_max);
      for (const CurvePoint& point : plan->points) {
        EXPECT_EQ(point.choice, point.declared_region() == "submitters_choice");
        if (point.offline != Offline::none) continue;
        EXPECT_EQ(point.accuracy, !point.choice);
      }
    }
  }
}

TEST(CurvePlan, WithASparePointAnyPointMayBeWithdrawn) {
  for (const std::int64_t c_max : {128, 256, 1024, 8192}) {
    const auto plan = plan_curve(wish_of(c_max));
    ASSERT_TRUE(plan);
    const std::vector<std::int64_t> levels = levels_of(*plan);
    for (std::size_t i = 0; i < levels.size(); ++i) {
      std::vector<std::int64_t> rest = levels;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_EQ(missing_points(rest, c_max, Offline::dedicated), std::vector<std::string>{})
          << c_max << " without " << levels[i];
    }
    EXPECT_TRUE(plan->notes.empty());
  }
}

TEST(CurvePlan, WhatIsMissingIsNamed) {
  const std::vector<std::int64_t> good{1, 3, 20, 200, 400, 700, 1024};
  EXPECT_TRUE(missing_points(good, 1024, Offline::elected).empty());
  const auto says = [&](std::vector<std::int64_t> levels, Offline offline, std::string_view word) {
    for (const std::string& what : missing_points(levels, 1024, offline)) {
      if (what.find(word) != std::string::npos) return true;
    }
    return false;
  };
  EXPECT_TRUE(says(good, Offline::none, "Offline"));
  EXPECT_TRUE(missing_points(good, 1024, Offline::dedicated).empty());
  EXPECT_TRUE(says({33, 40, 60, 200, 400, 700, 1024}, Offline::elected, "Ultra Low"));
  EXPECT_TRUE(says({1, 20, 30, 200, 400, 700, 1024}, Offline::elected, "Low point"));
  EXPECT_TRUE(says({1, 3, 5, 200, 400, 700, 1024}, Offline::elected, "Medium"));
  EXPECT_TRUE(says({1, 3, 20, 30, 40, 50, 60}, Offline::elected, "High"));
  EXPECT_TRUE(says({1, 3, 20, 200, 400, 700, 1000}, Offline::elected, "C_max"));
  std::vector<std::int64_t> many(33);
  std::iota(many.begin(), many.end(), 1);
  EXPECT_TRUE(says(many, Offline::elected, "allowed"));
}

TEST(CurvePlan, OfflineNeedsMoreRowsThanCMax) {
  CurveWish wish = wish_of(1024, 0);
  wish.rows = 1024;
  const auto plan = plan_curve(wish);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->points.back().offline, Offline::elected);
  EXPECT_FALSE(plan->notes.empty());
  wish.offline = Offline::dedicated;
  EXPECT_FALSE(plan_curve(wish));
}

TEST(CurvePlan, AListIsTakenAsItIs) {
  CurveWish wish = wish_of(0);
  wish.levels = {16, 1, 4, 16};
  const auto plan = plan_curve(wish);
  ASSERT_TRUE(plan);
  EXPECT_EQ(levels_of(*plan), (std::vector<std::int64_t>{1, 4, 16}));
  EXPECT_EQ(plan->c_max, 16);
  EXPECT_FALSE(plan->official);
  EXPECT_FALSE(plan->notes.empty());
}

TEST(CurvePlan, QuickIsShortAndNotOfficial) {
  CurveWish wish = wish_of(64, 0);
  wish.quick = true;
  const auto plan = plan_curve(wish);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->official);
  EXPECT_EQ(plan->points[0].window_min, 3_s);
  EXPECT_EQ(at_c_max(*plan).window_min, 6_s);
}

TEST(CurvePlan, TheLeastTimeGoesByTheLevelAndNotByTheRegion) {
  const auto plan = plan_curve(wish_of(1024, 0));
  ASSERT_TRUE(plan);
  for (const CurvePoint& point : plan->points) {
    if (point.offline == Offline::dedicated) continue;
    EXPECT_EQ(point.window_min, point.concurrency <= 32 ? 600_s : 1200_s) << point.name;
  }
  // C_min is 1: Low Concurrency begins far below 32.
  EXPECT_EQ(plan->points[1].region, rulebook::Region::low_concurrency);
  EXPECT_LE(plan->points[1].concurrency, 32);
}

TEST(CurvePlan, ATimeThatLeavesTheWindowWhenAPassIsCropped) {
  const auto plan = plan_curve(wish_of(1024, 0));
  ASSERT_TRUE(plan);
  const CurvePoint& point = at_c_max(*plan);
  ASSERT_EQ(point.window_min, 1200_s);
  // For every rate: the whole passes in the least time fill the window even without one of them.
  for (const double rate : {0.0, 1.0, 50.0, 800.0, 1234.5, 5000.0, 1e6}) {
    const double real = rate > 0 ? rate : 833.0;
    const double pass = 200'000 / real;
    const double time = least_time(point, 200'000, rate).seconds();
    const double passes = std::max(5.0, std::ceil(time / pass));
    EXPECT_GE((passes - 1) * pass, 1199.9) << rate;
  }
}

TEST(CurvePlan, ReadsBackAsItWasWritten) {
  const auto plan = plan_curve(wish_of(256, 1));
  ASSERT_TRUE(plan);
  const auto again = CurvePlan::from_json(plan->to_json());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->to_json(), plan->to_json());
  EXPECT_EQ(again->points.size(), plan->points.size());
  EXPECT_FALSE(CurvePlan::from_json(Json::object()));
}

TEST(CurvePlan, WithoutACMaxItWaitsForOne) {
  CurveWish wish = wish_of(0);
  wish.offline = Offline::elected;
  const auto pending = plan_search(wish);
  ASSERT_TRUE(pending) << pending.error().message;
  EXPECT_TRUE(pending->points.empty());
  EXPECT_TRUE(pending->official);
  // Until then curve.json holds the plan.
  const auto again = CurvePlan::from_json(*Json::parse(pending->to_json().dump()));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->rows, wish.rows);
  CurveWish kept = CurveWish::from_json(*Json::parse(wish.to_json().dump()));
  EXPECT_EQ(kept.to_json().dump(), wish.to_json().dump());
  kept.c_max = 128;
  wish.c_max = 128;
  EXPECT_EQ(plan_curve(kept)->to_json().dump(), plan_curve(wish)->to_json().dump());
  // A plan with a C_max and no points is invalid.
  Json broken = pending->to_json();
  broken.set("c_max", 64);
  EXPECT_FALSE(CurvePlan::from_json(broken));
  wish.c_min = 40;
  EXPECT_FALSE(plan_search(wish));
}

}  // namespace
}  // namespace assay::plan
