// Readers of trajectories that branch: AIPerf's DAG, Bailian's trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"
#include "dataset/trajectory.h"

namespace assay::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Result<Dataset> read_graph(TraceKind kind, std::string_view text) {
  const Spec spec{.name = "t", .path = "t.jsonl"};
  return read_trajectories(spec, Chunks::of(text), kind);
}

Result<Dataset> read_graph_example(std::string name, bool ids = false) {
  return load_replay({.path = format("{}/tests/data/trajectories/{}", ASSAY_SOURCE_DIR, name),
                      .prefer_token_ids = ids});
}

std::string said_in_graph(const Dataset& data, std::size_t row) {
  std::string out;
  for (std::size_t i = 0; i < data.samples[row].messages.size(); ++i) {
    out += format("{}|", data.samples[row].messages[i]["content"].as_string());
  }
  return out;
}

std::string graph_error(std::string_view text) {
  const auto got = read_graph(TraceKind::dag, text);
  return got ? std::string("read") : got.error().message;
}

TEST(TrajectoryGraphs, a_dag_spawns_joins_and_forks) {
  const auto got = read_graph_example("dag.jsonl");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->agents, ElementsAre("root", "w1", "w2", "end"));
  ASSERT_EQ(got->conversations.size(), 1U);
  // root 0 to 2, w1 3, w2 4 and 5, end 6: the third turn waits for both children's last.
  EXPECT_THAT(got->conversations[0].after,
              ElementsAre(ElementsAre(), ElementsAre(0), ElementsAre(1, 3, 5), ElementsAre(0),
                          ElementsAre(0), ElementsAre(4), ElementsAre(2)));
  EXPECT_EQ(got->conversations[0].turns[1].delay, 300_ms);
  EXPECT_EQ(said_in_graph(*got, 2), "Be brief.|Plan.|Meanwhile.|Merge.|");
  EXPECT_EQ(said_in_graph(*got, 5), "Part 2.|More.|") << "a spawned child begins empty";
  EXPECT_EQ(said_in_graph(*got, 6), "Be brief.|Plan.|Meanwhile.|Merge.|Close.|")
      << "a fork inherits";
  EXPECT_EQ(got->samples[3].output_tokens_max, 50);
}

TEST(TrajectoryGraphs, an_orchestrators_children_run_round_after_round) {
  const auto lines = read_graph(
      TraceKind::dag,
      R"({"session_id": "o", "orchestrator": true, "spawns": ["a", "b"], "rounds": 2,)"
      R"( "think_time_ms": 500})"
      "\n"
      R"({"session_id": "a", "turns": [{"messages": [{"role": "user", "content": "1"}]}]})"
      "\n"
      R"({"session_id": "b", "turns": [{"messages": [{"role": "user", "content": "2"}]}]})");
  ASSERT_TRUE(lines) << lines.error().message;
  // a: nodes 0 and 1; b: nodes 2 and 3.
  EXPECT_THAT(lines->conversations[0].after,
              ElementsAre(ElementsAre(), ElementsAre(0, 2), ElementsAre(), ElementsAre(0, 2)));
  EXPECT_EQ(lines->conversations[0].turns[0].delay, Duration{});
  EXPECT_EQ(lines->conversations[0].turns[3].delay, 500_ms);
}

TEST(TrajectoryGraphs, what_is_wrong_with_a_dag_is_named) {
  const auto session = [](std::string_view id, std::string_view more, int turns = 1) {
    std::string out = format(R"({{"session_id": "{}", "turns": [)", id);
    for (int i = 0; i < turns; ++i) {
      out += format(R"({}{{"messages": [{{"role": "user", "content": "x"}}]{}}})",
                    i > 0 ? ", " : "", i == 0 ? more : "");
    }
    return out + "]}\n";
  };
  EXPECT_THAT(graph_error(session("a", R"(, "spawns": ["b"])")), HasSubstr("not in the file"));
  EXPECT_THAT(graph_error(session("a", R"(, "spawns": ["a"])")), HasSubstr("begun by another"));
  EXPECT_THAT(
      graph_error(session("r", R"(, "forks": ["a"])") + session("a", R"(, "spawns": ["b"])") +
                  session("b", R"(, "spawns": ["a"])")),
      HasSubstr("begins itself"));
  EXPECT_THAT(graph_error(session("a", R"(, "spawns": ["b", "b"])") + session("b", "")),
              HasSubstr("twice"));
  EXPECT_THAT(graph_error(session("a", R"(, "spawns": [{"children": ["b"], "join_at": 3}])", 3) +
                          session("b", "")),
              HasSubstr("join_at: 3 is not a turn after 0 and up to 2"));
  EXPECT_THAT(graph_error(session("a", R"(, "forks": ["b"])", 2) + session("b", "")),
              HasSubstr("background: true"));
  EXPECT_EQ(graph_error(session("a", R"(, "forks": [{"child": "b", "background": true}])", 2) +
                        session("b", "")),
            "read");
  EXPECT_THAT(graph_error(session("a", R"(, "delays": 3)")), HasSubstr("did you mean 'delay'?"));
  EXPECT_THAT(graph_error(session("a", "") + session("a", "")), HasSubstr("a second one"));
}

TEST(TrajectoryGraphs, bailians_chats_are_trees_and_its_blocks_are_of_16_tokens) {
  const auto got = read_graph_example("bailian.jsonl", true);
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->conversations.size(), 2U);
  EXPECT_THAT(got->conversations[0].after,
              ElementsAre(ElementsAre(), ElementsAre(0), ElementsAre(0)));
  EXPECT_THAT(got->dropped, ElementsAre(Pair("chats whose parent the file lacks", 1U)));
  Sample room;
  const auto ids = [&](std::size_t row) { return got->row(row, room).input_tokens; };
  const auto first = ids(0);
  const auto second = ids(1);
  ASSERT_EQ(first.size(), 40U);
  ASSERT_EQ(second.size(), 66U);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), second.begin())) << "a short block is cut";
}

}  // namespace
}  // namespace assay::dataset
