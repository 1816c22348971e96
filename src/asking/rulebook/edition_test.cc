#include "rulebook/edition.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace assay::rulebook {
namespace {

TEST(Cohort, each_is_followed_by_the_other_of_its_month_or_the_next) {
  const auto cohort = Cohort::parse("2026-12-C1");
  ASSERT_TRUE(cohort);
  EXPECT_EQ(cohort->text(), "2026-12-C1");
  EXPECT_EQ(Cohort{cohort->number + 1}.text(), "2027-01-C0");
  EXPECT_EQ(cohort->number - Cohort::parse("2026-10-C1")->number, 4);
}

TEST(Cohort, is_published_on_a_wednesday) {
  // The rules' own examples.
  for (const auto& [text, date] :
       std::vector<std::pair<const char*, const char*>>{{"2026-10-C1", "2026-10-21"},
                                                        {"2026-11-C0", "2026-11-04"},
                                                        {"2026-11-C1", "2026-11-18"},
                                                        {"2026-12-C0", "2026-12-02"},
                                                        {"2026-12-C1", "2026-12-16"},
                                                        {"2027-01-C0", "2027-01-06"},
                                                        {"2027-01-C1", "2027-01-20"}}) {
    ASSERT_TRUE(Cohort::parse(text));
    EXPECT_EQ(Cohort::parse(text)->date(), date);
  }
}

TEST(Cohort, nothing_else_is_one) {
  for (const char* text : {"", "2026-10-C2", "2026-13-C0", "2026-00-C0", "26-10-C0", "2026-10-c0",
                           "2026-10-C1 ", "2026-10-C", "2026/10/C0"}) {
    EXPECT_FALSE(Cohort::parse(text)) << text;
  }
}

TEST(Edition, v1_0_has_the_six_benchmarks_and_knows_their_other_spellings) {
  const auto edition = edition_named("v1.0");
  ASSERT_TRUE(edition);
  EXPECT_EQ(edition->benchmarks.size(), 6U);
  ASSERT_NE(edition->benchmark("llama3_1-8b"), nullptr);
  EXPECT_EQ(edition->benchmark("llama3.1-8b"), nullptr);
  EXPECT_EQ(edition->benchmark_like("llama3.1-8b"), edition->benchmark("llama3_1-8b"));
  EXPECT_EQ(edition->benchmark_like("openai/gpt-oss-120b"), edition->benchmark("gpt-oss-120b"));
  EXPECT_EQ(edition->benchmark_like("llama4"), nullptr);
}

TEST(Edition, a_dataset_is_found_by_its_name_before_the_preset) {
  const auto edition = edition_named("1.0");
  ASSERT_TRUE(edition);
  EXPECT_EQ(edition->samples_of("cnn_dailymail::llama3_8b"), 13'368);
  EXPECT_EQ(edition->samples_of("mlperf_gpt_oss_performance"), 6'396);
  EXPECT_EQ(edition->samples_of("mine"), 0);
}

TEST(Edition, v0_7_differs_where_it_says_so) {
  const auto edition = edition_named("v0.7");
  ASSERT_TRUE(edition);
  EXPECT_FALSE(edition->c_min_derived);
  EXPECT_EQ(edition->duration_s, 600);
  EXPECT_TRUE(edition->seed_sets.empty());
  EXPECT_FALSE(edition_named("v2"));
}

}  // namespace
}  // namespace assay::rulebook
