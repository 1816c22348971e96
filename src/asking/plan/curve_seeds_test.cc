#include "plan/curve_seeds.h"

#include <gtest/gtest.h>

namespace assay::plan {
namespace {

constexpr WallTime day(std::int64_t since_1970) { return {since_1970 * 86'400'000'000'000}; }

TEST(CurveSeeds, TheNextCohortToBePublished) {
  // 2026-11-20 is day 20,777 since 1970; 2026-11-18 is a third Wednesday.
  EXPECT_EQ(next_cohort(day(20'777)).text(), "2026-12-C0");
  EXPECT_EQ(next_cohort(day(20'775)).text(), "2026-12-C0") << "on the day itself it is too late";
  EXPECT_EQ(next_cohort(day(20'774)).text(), "2026-11-C1");
  EXPECT_EQ(next_cohort(day(20'810)).text(), "2027-01-C0");
}

TEST(CurveSeeds, TheSetThatIsOpenToTheCohort) {
  const auto edition = rulebook::edition_named("v1.0");
  ASSERT_TRUE(edition);
  std::string note;
  const auto seeds = bind_seeds(*edition, "", "", day(20'777), note);
  ASSERT_TRUE(seeds) << seeds.error().message;
  EXPECT_EQ(seeds->set, "A");
  EXPECT_EQ(seeds->cohort, "2026-12-C0");
  EXPECT_EQ(seeds->scheduler_rng_seed, 10487924139932647040U);
  EXPECT_EQ(seeds->sample_index_rng_seed, 586478644936801402U);
  EXPECT_EQ(seeds->model_seed, 9315206023656308754U);
  EXPECT_TRUE(note.empty());
  EXPECT_EQ(CurveSeeds::from_json(seeds->to_json()), *seeds);
}

TEST(CurveSeeds, ASetThatIsClosedIsRefusedByNameAndNotedByDefault) {
  const auto edition = rulebook::edition_named("v1.0");
  std::string note;
  EXPECT_FALSE(bind_seeds(*edition, "A", "2026-12-C1", day(0), note));
  EXPECT_FALSE(bind_seeds(*edition, "Z", "", day(20'777), note));
  EXPECT_FALSE(bind_seeds(*edition, "", "next", day(20'777), note));
  const auto seeds = bind_seeds(*edition, "", "2026-12-C1", day(0), note);
  ASSERT_TRUE(seeds);
  EXPECT_EQ(seeds->set, "A");
  EXPECT_FALSE(note.empty());
}

}  // namespace
}  // namespace assay::plan
