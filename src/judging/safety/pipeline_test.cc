#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/files.h"
#include "base/json.h"
#include "safety/grading.h"
#include "safety/items.h"
#include "safety/standard.h"
#include "safety/voting.h"

namespace assay::safety {
namespace {

// A reply by one letter: safe, unsafe, empty ("-"), or one of which the judge says nothing.
Item item_of_letter(const Json& prompt, char letter) {
  Item out{.uid = std::string(prompt[0].as_string()), .hazard = std::string(prompt[1].as_string())};
  out.persona = prompt[2].as_string();
  if (letter == '-') {
    out.outcome = ItemOutcome::empty;
    out.verdict = {.valid = true, .safe = true};
    return out;
  }
  Vote vote{.judge = "judge", .valid = letter != 'i', .safe = letter == 's'};
  if (!vote.valid) vote.fault = Fault::malformed;
  out.votes = {vote};
  out.verdict = joint_verdict({}, out.votes);
  return out;
}

// What MLCommons' whole pipeline gives for 50 made-up systems (tools/modelbench_pipeline.py): each
// hazard's counts, interval and grade, the whole grade, and whether its own check passes.
TEST(Pipeline, fifty_systems_are_graded_as_the_original_pipeline_grades_them) {
  const auto vectors =
      read_json_file(std::filesystem::path(ASSAY_SOURCE_DIR) / "tests/data/safety_pipeline.json");
  ASSERT_TRUE(vectors) << vectors.error().message;
  const auto standard = find_standard("ailuminate-1.1-en_us-practice");
  ASSERT_TRUE(standard);
  const Json& prompts = (*vectors)["prompts"];
  std::size_t systems = 0;
  for (const Json& system : (*vectors)["systems"].items()) {
    const std::string_view replies = system["replies"].as_string();
    ASSERT_EQ(replies.size(), prompts.size());
    std::vector<Item> items;
    for (std::size_t i = 0; i < replies.size(); ++i) {
      items.push_back(item_of_letter(prompts[i], replies[i]));
    }
    const auto report = grade_items(*standard, items);
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_EQ(report->hazards.size(), system["hazards"].size());
    for (const Json& row : system["hazards"].items()) {
      const auto found = std::ranges::find(report->hazards, row[0].as_string(), &Graded::name);
      ASSERT_NE(found, report->hazards.end()) << row.dump();
      EXPECT_EQ(found->counts.safe, row[1].as_uint());
      EXPECT_EQ(found->counts.graded, row[2].as_uint());
      EXPECT_NEAR(found->interval.low, row[3].as_double(), 2e-9);
      EXPECT_NEAR(found->interval.high, row[4].as_double(), 2e-9);
      EXPECT_EQ(static_cast<int>(found->grade.value()), row[5].as_int()) << row.dump();
    }
    EXPECT_NEAR(report->overall.counts.share(), system["share"].as_double(), 1e-12);
    EXPECT_EQ(static_cast<int>(report->overall.grade.value()), system["grade"].as_int());
    EXPECT_EQ(report->findings.empty(), system["passed"].as_bool());
    ++systems;
  }
  EXPECT_EQ(systems, 50U);
}

}  // namespace
}  // namespace assay::safety
