// Trajectories as a fact of a run.
#include "domain/trajectories.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace assay {
namespace {

using testing::ElementsAre;

Dataset two_rows() {
  Dataset out{.name = "t"};
  out.samples = {{.prompt = "a", .session = "s"}, {.prompt = "b", .session = "s"}};
  out.agents = {"main", "search"};
  out.dropped = {{"lost", 3}};
  return out;
}

Conversation of_two(bool graph) {
  Conversation out{.turns = {{0, 2_s, 0}, {1, 3_s, 1}}};
  if (graph) out.after = {{}, {}};
  return out;
}

TEST(Trajectories, what_is_written_is_read_again) {
  Dataset data = two_rows();
  data.conversations = {of_two(false)};
  PhasePlan phase;
  phase.conversations = {of_two(false), of_two(false)};
  const Trajectories made = trajectories_of(phase, data, true);
  EXPECT_EQ(made.planned, 2U);
  EXPECT_THAT(made.all[0].nodes[1].after, ElementsAre(0)) << "turn after turn";
  EXPECT_EQ(made.all[0].nodes[0].delay, Duration{}) << "a first turn follows no reply";
  EXPECT_NE(made.all[0].nodes[0].asked, made.all[0].nodes[1].asked);
  const auto again = trajectories_from(Json().set(kTrajectoriesFact, to_json(made)));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_json(*again), to_json(made));
  EXPECT_EQ(again->rows(), 2U);
  EXPECT_TRUE(again->salted);
  EXPECT_EQ(again->all[0].nodes[1].delay, 3_s);
  EXPECT_EQ(again->all[0].nodes[1].agent, 1U);
}

TEST(Trajectories, a_branch_waits_for_nothing_and_for_its_own_delay) {
  Dataset data = two_rows();
  data.conversations = {of_two(true)};
  PhasePlan phase;
  phase.conversations = {of_two(true)};
  const Trajectories made = trajectories_of(phase, data, false);
  EXPECT_TRUE(made.all[0].nodes[1].after.empty());
  EXPECT_EQ(made.all[0].nodes[0].delay, 2_s);
}

TEST(Trajectories, a_runs_facts_that_are_damaged_are_refused) {
  const auto read = [](const char* nodes, const char* hashes) {
    Json row = Json::array();
    row.push_back("t");
    row.push_back(nodes);
    row.push_back(hashes);
    Json agents = Json::array();
    agents.push_back("main");
    Json all = Json::array();
    all.push_back(std::move(row));
    return trajectories_from(
               Json().set(kTrajectoriesFact,
                          Json().set("agents", std::move(agents)).set("all", std::move(all))))
        .has_value();
  };
  const char* const one = "00000000000000aF";
  EXPECT_TRUE(read("0:5:", "00000000000000af"));
  EXPECT_FALSE(read("0:5:", one)) << "only lower case is written";
  EXPECT_FALSE(read("0:5:", "00"));
  EXPECT_FALSE(read("1:5:", "00000000000000af")) << "no such agent";
  EXPECT_FALSE(read("0:5:1", "00000000000000af")) << "no such node";
  EXPECT_FALSE(read("0:-5:", "00000000000000af"));
  EXPECT_FALSE(read("0:5", "00000000000000af"));
  EXPECT_TRUE(trajectories_from(Json::object())->all.empty());
}

}  // namespace
}  // namespace assay
