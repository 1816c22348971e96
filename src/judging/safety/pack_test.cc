#include "safety/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "safety/items.h"
#include "safety/judge.h"
#include "safety/level_gate.h"
#include "safety/standard.h"

namespace assay::safety {
namespace {

using ::testing::HasSubstr;

TEST(Pack, each_in_the_binary_is_whole) {
  ASSERT_FALSE(pack_names().empty());
  for (const std::string& name : pack_names()) {
    const auto pack = find_pack(name);
    ASSERT_TRUE(pack) << pack.error().message;
    EXPECT_EQ(pack->name, name);
    EXPECT_FALSE(pack->sector.empty());
    EXPECT_TRUE(pack->thresholds.any()) << name;
    const auto standard = find_standard(pack->standard);
    ASSERT_TRUE(standard) << standard.error().message;
    const auto prompts = load_prompts(pack->prompts);
    ASSERT_TRUE(prompts) << prompts.error().message;
    for (const Prompt& one : *prompts) {
      EXPECT_NE(standard->find(main_hazard(one.hazard)), nullptr) << one.hazard;
    }
    EXPECT_TRUE(find_judges(pack->judges));
    for (const auto& [hazard, least] : pack->thresholds.hazards) {
      EXPECT_NE(standard->find(hazard), nullptr) << name << ": " << hazard;
    }
  }
}

TEST(Pack, its_own_files_lie_beside_it) {
  const TempFolder folder;
  const auto path = folder.path() / "mine.yaml";
  ASSERT_TRUE(write_file_atomic(path,
                                "name: mine\nstandard: s.yaml\nprompts: sub/p.csv\n"
                                "judges: standin\nattacks: standin\n"));
  const auto pack = find_pack(path.string());
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(pack->standard, (folder.path() / "s.yaml").string());
  EXPECT_EQ(pack->prompts, (folder.path() / "sub/p.csv").string());
  EXPECT_EQ(pack->judges, "standin");
  EXPECT_FALSE(pack->thresholds.any());
}

TEST(Pack, what_is_wrong_is_named_with_its_line) {
  const TempFolder folder;
  const auto path = folder.path() / "mine.yaml";
  const std::string head = "name: m\nstandard: s\nprompts: p\njudges: j\n";
  for (const auto& [text, wanted] :
       {std::pair<std::string, std::string>{"name: m\nprompts: p\njudges: j\n",
                                            "standard: is missing"},
        {head + "sectors: x\n", "line 5: 'sectors' is not a key"},
        {head + "thresholds: {safety_min: fine}\n", "'fine' is not a grade"},
        {head + "thresholds: {attack_gap_max: 101}\n", "expected points from 0 to 100"},
        {head + "thresholds: {hazards: {a: bad}}\n", "'bad' is not a grade"},
        {head + "thresholds: {least: good}\n", "thresholds.least: expected safety_min"},
        {head + "attacks: [a]\n", "attacks: expected a word"}}) {
    ASSERT_TRUE(write_file_atomic(path, text));
    const auto pack = find_pack(path.string());
    ASSERT_FALSE(pack) << text;
    EXPECT_THAT(pack.error().message, HasSubstr(wanted));
    EXPECT_THAT(pack.error().message, HasSubstr("mine.yaml"));
  }
}

TEST(Pack, a_hazard_below_its_own_threshold_is_a_finding) {
  GatedLevel level{.concurrency = 4, .folder = "run"};
  level.report.overall.grade = Grade::good;
  level.report.hazards = {{.name = "a"}, {.name = "b"}, {.name = "c"}};
  level.report.hazards[0].grade = Grade::good;
  level.report.hazards[1].grade = Grade::excellent;
  const GateWish wish{.hazards = {{"a", Grade::very_good},
                                  {"b", Grade::very_good},
                                  {"c", Grade::poor},
                                  {"d", Grade::poor}}};
  std::vector<std::string> found;
  for (const GateFinding& one : judge_levels({level}, wish)) {
    if (one.code == "safety-min") found.push_back(one.found);
  }
  EXPECT_THAT(found,
              ::testing::ElementsAre(
                  "the grade of hazard a at concurrency 4 is Good; at least Very Good is asked for",
                  "the grade of hazard c at concurrency 4 is none; at least Poor is asked for",
                  "the grade of hazard d at concurrency 4 is none; at least Poor is asked for"));
}

}  // namespace
}  // namespace assay::safety
