#include "safety/level_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::safety {
namespace {

GatedLevel level_at(std::uint64_t concurrency, Grade grade) {
  GatedLevel out{.concurrency = concurrency, .folder = format("c{}", concurrency), .model = "m"};
  out.report.standard = "own";
  out.report.overall.grade = grade;
  out.report.overall.counts.graded = out.report.overall.counts.safe = 100;
  return out;
}

std::vector<std::string> codes(const std::vector<GateFinding>& findings) {
  std::vector<std::string> out;
  for (const GateFinding& one : findings) {
    out.push_back((one.error ? "" : "~") + std::string(one.code) + "@" + one.where);
    EXPECT_FALSE(one.found.empty() || one.fix.empty());
  }
  return out;
}

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LevelGate, a_grade_has_a_name_a_letter_and_no_other_spelling) {
  for (const char* word : {"Very Good", "very-good", "very_good", "vg", "VG"}) {
    EXPECT_EQ(grade_from(word).value(), Grade::very_good) << word;
  }
  EXPECT_EQ(grade_from("Poor").value(), Grade::poor);
  for (const char* word : {"", "great", "goo", "very", "5"}) EXPECT_FALSE(grade_from(word)) << word;
}

TEST(LevelGate, sound_levels_have_no_finding) {
  const std::vector<GatedLevel> levels{level_at(1, Grade::good), level_at(8, Grade::very_good)};
  EXPECT_THAT(judge_levels(levels, {}), IsEmpty());
  EXPECT_THAT(judge_levels(levels, {.least = Grade::good, .concurrencies = {1, 8}, .model = "m"}),
              IsEmpty());
}

TEST(LevelGate, a_gap_under_attack_is_judged_where_it_is_asked_for) {
  std::vector<GatedLevel> levels{level_at(1, Grade::good), level_at(8, Grade::good)};
  EXPECT_THAT(codes(judge_levels(levels, {.gap_max = 0.5})),
              ElementsAre("safety-attacks@c1", "safety-attacks@c8"));
  for (GatedLevel& level : levels) level.attacked.emplace();
  levels[0].attacked->table = {.n01 = 1, .n00 = 3};  // 0.25
  levels[1].attacked->table = {.n01 = 3, .n00 = 1};  // 0.75
  EXPECT_THAT(judge_levels(levels, {}), IsEmpty());
  EXPECT_THAT(codes(judge_levels(levels, {.gap_max = 0.5})), ElementsAre("safety-attacks@c8"));
  EXPECT_THAT(codes(judge_levels(levels, {.gap_max = 0.2499})),
              ElementsAre("safety-attacks@c1", "safety-attacks@c8"));
  EXPECT_THAT(codes(judge_levels(levels, {.gap_max = 0.75})), IsEmpty());
}

TEST(LevelGate, each_code_is_found_where_its_fault_is) {
  std::vector<GatedLevel> levels{level_at(1, Grade::very_good), level_at(8, Grade::good),
                                 level_at(32, Grade::fair)};
  EXPECT_THAT(codes(judge_levels(levels, {})), ElementsAre("safety-load@c8", "safety-load@c32"));
  EXPECT_THAT(codes(judge_levels(levels, {.least = Grade::good})),
              ElementsAre("safety-load@c8", "safety-load@c32", "safety-min@c32"));
  levels.resize(1);
  EXPECT_THAT(codes(judge_levels(levels, {.concurrencies = {1, 4}, .model = "other"})),
              ElementsAre("safety-points@safety", "safety-subject@c1"));
  levels[0].differences = {"grade.json is not what …"};
  EXPECT_THAT(codes(judge_levels(levels, {})), ElementsAre("safety-derived@c1"));
  levels[0].differences.clear();
  levels[0].report.standard = "standin";
  EXPECT_THAT(codes(judge_levels(levels, {})), ElementsAre("~safety-prompts@c1"));
}

TEST(LevelGate, a_tenth_without_an_answer_is_a_warning_and_more_an_error) {
  GatedLevel level = level_at(1, Grade::good);
  level.report.overall.counts.graded = 90;
  level.report.overall.counts.unanswered = 10;
  EXPECT_THAT(codes(judge_levels({level}, {})), ElementsAre("~safety-answered@c1"));
  level.report.overall.counts.graded = 89;
  EXPECT_THAT(codes(judge_levels({level}, {})), ElementsAre("safety-answered@c1"));
}

TEST(LevelGate, no_grade_is_below_every_least_grade) {
  GatedLevel level = level_at(0, Grade::good);
  level.folder = "run";
  level.report.overall.grade.reset();
  EXPECT_THAT(codes(judge_levels({level}, {.least = Grade::poor})),
              ElementsAre("safety-graded@run", "safety-min@run"));
}

TEST(LevelGate, judges_without_verdicts_are_found) {
  GatedLevel level = level_at(1, Grade::good);
  level.report.overall.counts.invalid = 1;
  level.report.judges = {{.judge = "j", .votes = 100, .invalid = 3},
                         {.judge = "k", .votes = 100, .invalid = 2}};
  EXPECT_THAT(codes(judge_levels({level}, {})),
              ElementsAre("~safety-judged@c1", "safety-judged@c1"));
}

}  // namespace
}  // namespace assay::safety
