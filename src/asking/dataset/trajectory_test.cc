// Readers of trajectories: our own format, Weka's, spans, sessions of Mooncake.
#include "dataset/trajectory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/format.h"

namespace assay::dataset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Dataset> read(TraceKind kind, std::string_view text, bool ids = false) {
  const Spec spec{.name = "t", .path = "t.jsonl", .prefer_token_ids = ids};
  return read_trajectories(spec, Chunks::of(text), kind);
}

Result<Dataset> read_example(std::string name, bool ids = false) {
  return load_replay({.path = format("{}/tests/data/trajectories/{}", ASSAY_SOURCE_DIR, name),
                      .prefer_token_ids = ids});
}

std::string own(std::string_view nodes) {
  return format(R"({{"trajectory": "t", "nodes": [{}]}})", nodes);
}

std::string error_of(std::string_view nodes) {
  const auto got = read(TraceKind::trajectories, own(nodes));
  return got ? std::string("read") : got.error().message;
}

std::string said(const Dataset& data, std::size_t row) {
  std::string out;
  for (std::size_t i = 0; i < data.samples[row].messages.size(); ++i) {
    out += format("{}|", data.samples[row].messages[i]["content"].as_string());
  }
  return out;
}

std::vector<std::int32_t> ids_of(const Dataset& data, std::size_t row) {
  Sample room;
  return data.row(row, room).input_tokens;
}

// How many tokens two prompts have in common at their begin.
std::size_t shared(const Dataset& data, std::size_t a, std::size_t b) {
  const auto left = ids_of(data, a);
  const auto right = ids_of(data, b);
  std::size_t n = 0;
  while (n < left.size() && n < right.size() && left[n] == right[n]) ++n;
  return n;
}

TEST(Trajectory, our_own_format_is_read_as_the_document_says) {
  const auto got = read_example("own.jsonl", true);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->agents, ElementsAre("main", "search"));
  ASSERT_EQ(got->conversations.size(), 2U);
  const assay::Conversation& first = got->conversations[0];
  // An agent's nodes stand together: plan, merge, north, south.
  EXPECT_THAT(first.after,
              ElementsAre(ElementsAre(), ElementsAre(2, 3), ElementsAre(0), ElementsAre(0)));
  EXPECT_EQ(first.turns[2].delay, 20_ms);
  EXPECT_EQ(first.turns[2].agent, 1U);
  EXPECT_EQ(said(*got, 1), "Be brief.|Compare two cities.|I ask two agents.|Now sum up.|");
  EXPECT_EQ(said(*got, 3), "Tell of the south.|") << "its context was reset";
  EXPECT_EQ(got->samples[1].output_tokens_max, 10);
  EXPECT_EQ(got->samples[1].session, "t1");
  // Lengths alone: one growing context until the reset.
  EXPECT_EQ(ids_of(*got, 4).size(), 40U);
  EXPECT_EQ(ids_of(*got, 5).size(), 70U);
  EXPECT_EQ(shared(*got, 4, 5), 40U);
  EXPECT_EQ(ids_of(*got, 6).size(), 24U);
  EXPECT_EQ(shared(*got, 5, 6), 0U);
}

TEST(Trajectory, what_cannot_be_replayed_is_refused_with_its_place_and_a_fix) {
  const std::string message = R"("messages": [{"role": "user", "content": "x"}])";
  const auto node = [&](std::string_view id, std::string_view more) {
    return format(R"({{"id": "{}", {}, {}}})", id, more, message);
  };
  EXPECT_THAT(error_of(node("a", R"("after": ["b"])")),
              HasSubstr("t.jsonl:1: trajectory 't': node 'a': after: no node \"b\""));
  EXPECT_THAT(error_of(node("a", R"("after": ["a"])")), HasSubstr("it waits for itself"));
  const std::string cycle =
      error_of(node("a", R"("after": ["c"])") + "," + node("b", R"("after": ["a"])") + "," +
               node("c", R"("after": ["b"])"));
  EXPECT_THAT(cycle, HasSubstr("(a after c after b after a); take one of them out of an 'after'"));
  EXPECT_THAT(error_of(node("a", R"("after": [])") + "," + node("a", R"("after": [])")),
              HasSubstr("a second one of this id"));
  EXPECT_THAT(error_of(node("a", R"("after": [])") + "," + node("b", R"("after": ["a", "a"])")),
              HasSubstr("stands there twice"));
  EXPECT_THAT(error_of(node("a", R"("after": [])") + "," + node("b", R"("after": [])")),
              HasSubstr("does not wait for it: name it in 'after'"));
  EXPECT_THAT(error_of(node("a", R"("delays": 1)")), HasSubstr("did you mean 'delay_s'?"));
  EXPECT_THAT(error_of(node("a", R"("delay_s": -1)")), HasSubstr("delay_s: expected 0 to 86400"));
  EXPECT_THAT(error_of(R"({"id": "a"})"), HasSubstr("either messages or input_tokens"));
  EXPECT_THAT(error_of(R"({"id": "a", "input_tokens": 64, "hash_ids": [1, 2]})"),
              HasSubstr("2 blocks of 64 tokens are more than 64 tokens"));
  const std::string one = own(node("a", R"("after": [])"));
  const auto twice = read(TraceKind::trajectories, one + "\n" + one);
  ASSERT_FALSE(twice);
  const auto list = read(TraceKind::trajectories, "[" + one + "]");
  ASSERT_TRUE(list) << list.error().message;
  EXPECT_FALSE(read(TraceKind::trajectories, "[" + one + "]\n" + one)) << "it would be lost";
  EXPECT_THAT(twice.error().message, HasSubstr("t.jsonl:2: trajectory 't': a second one"));
}

TEST(Trajectory, a_history_that_is_continued_is_an_ancestors_however_far) {
  const auto got = read(
      TraceKind::trajectories,
      own(R"({"id": "a", "messages": [{"role": "user", "content": "1"}], "reply": {"content": "2"}},
             {"id": "x", "agent": "s", "after": ["a"],
              "messages": [{"role": "user", "content": "s"}]},
             {"id": "b", "after": ["x"], "messages": [{"role": "user", "content": "3"}]},
             {"id": "fork", "agent": "s", "after": ["b"], "continues": "a",
              "messages": [{"role": "user", "content": "4"}]})"));
  // A line break inside a document: one JSON value.
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(said(*got, 1), "1|2|3|");
  EXPECT_EQ(said(*got, 3), "1|2|4|");
}

TEST(Trajectory, a_hash_is_the_same_block_in_its_scope_and_no_other) {
  const std::string row =
      R"({{"trajectory": "{}", "block_tokens": 16, "hash_scope": "{}", "nodes": [)"
      R"({{"id": "a", "input_tokens": 40, "hash_ids": [5, 6, 7]}},)"
      R"({{"id": "b", "input_tokens": 48, "hash_ids": [5, 6, 7], "reset": true}},)"
      R"({{"id": "c", "input_tokens": 50, "hash_ids": [5, 8], "reset": true}}]}})"
      "\n";
  const auto file = [&](std::string_view scope) {
    std::string out;
    for (const char* id : {"t", "u"}) {
      std::string one = row;
      for (const auto& [from, to] : {std::pair<std::string, std::string>{"{{", "{"}, {"}}", "}"}}) {
        for (std::size_t at = 0; (at = one.find(from, at)) != std::string::npos; ++at) {
          one.replace(at, 2, to);
        }
      }
      one.replace(one.find("{}"), 2, id);
      one.replace(one.find("{}"), 2, scope);
      out += one;
    }
    return out;
  };
  const auto own_scope = read(TraceKind::trajectories, file("trajectory"), true);
  ASSERT_TRUE(own_scope) << own_scope.error().message;
  EXPECT_EQ(shared(*own_scope, 0, 1), 40U) << "a short block is the begin of the full one";
  EXPECT_EQ(shared(*own_scope, 1, 2), 16U);
  EXPECT_EQ(shared(*own_scope, 0, 3), 0U);
  const auto file_scope = read(TraceKind::trajectories, file("file"), true);
  ASSERT_TRUE(file_scope);
  EXPECT_EQ(shared(*file_scope, 0, 3), 40U);
  // As text too, by words.
  const auto text = read(TraceKind::trajectories, file("file"));
  ASSERT_TRUE(text);
  Sample room;
  const std::string cut = text->row(0, room).prompt;
  EXPECT_TRUE(text->row(1, room).prompt.starts_with(cut)) << cut;
  EXPECT_FALSE(text->row(2, room).prompt.starts_with(cut));
}

TEST(Trajectory, wekas_markers_become_branches_that_join) {
  const auto got = read_example("weka.json", true);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->agents, ElementsAre("main", "Explore"));
  ASSERT_EQ(got->conversations.size(), 1U);
  const assay::Conversation& one = got->conversations[0];
  // The request at 7 s waits for the first one and for the sub-agent, which ended at 3.5 or 6.
  EXPECT_THAT(one.after, ElementsAre(ElementsAre(), ElementsAre(0, 2), ElementsAre(0)));
  EXPECT_EQ(one.turns[1].delay, Duration::from_seconds(3.5)) << "from the recorded end, 3.5 s";
  EXPECT_EQ(one.turns[2].delay, 1_s);
  EXPECT_EQ(ids_of(*got, 0).size(), 200U);
  EXPECT_EQ(shared(*got, 0, 1), 192U) << "three blocks; the tail is new text";
  EXPECT_THAT(got->dropped, ElementsAre(testing::Pair("requests without tokens", 1U)));
}

TEST(Trajectory, a_wekas_child_may_count_from_its_marker_and_may_never_be_joined) {
  const auto got = read(TraceKind::weka,
                        R"({"id": "c", "requests": [
      {"t": 10, "in": 5, "out": 5, "api_time": 1},
      {"t": 20, "type": "subagent", "agent_id": "bg", "status": "async_launched",
       "duration_ms": null, "requests": [{"t": 0.5, "in": 5, "out": 5, "api_time": 100}]},
      {"t": 30, "in": 5, "out": 5}]})");
  ASSERT_TRUE(got) << got.error().message;
  const assay::Conversation& one = got->conversations[0];
  EXPECT_THAT(one.after, ElementsAre(ElementsAre(), ElementsAre(0), ElementsAre(0)));
  EXPECT_EQ(one.turns[0].delay, 10_s) << "from the conversation's start";
  EXPECT_EQ(one.turns[2].delay, Duration::from_seconds(9.5)) << "20.5 less 11";
  EXPECT_THAT(got->agents, ElementsAre("main", "bg"));
}

TEST(Trajectory, spans_wait_for_what_had_ended_and_agents_side_by_side_do_not) {
  const auto got = read_example("otel.jsonl", true);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_THAT(got->agents, ElementsAre("lead", "worker"));
  const assay::Conversation& one = got->conversations[0];
  // a, d, b, c: the workers follow a; d follows both.
  EXPECT_THAT(one.after,
              ElementsAre(ElementsAre(), ElementsAre(2, 3), ElementsAre(0), ElementsAre(0)));
  EXPECT_EQ(one.turns[0].delay, Duration{});
  EXPECT_EQ(one.turns[1].delay, 1_s);
  EXPECT_EQ(one.turns[2].delay, 500_ms);
  EXPECT_EQ(said(*got, 3), "Look there.|");
  EXPECT_EQ(shared(*got, 0, 1), 0U) << "nothing came from a cache before";
  EXPECT_THAT(
      got->dropped,
      ElementsAre(testing::Pair("queries that had failed without a reply", 1U),
                  testing::Pair("queries whose reuse of a cache is unknown, sent with none", 1U)));
}

TEST(Trajectory, an_otlp_export_with_its_lists_of_attributes_is_the_same) {
  const auto got = read(TraceKind::otel, R"({"resourceSpans": [{"scopeSpans": [{"spans": [
    {"traceId": "t", "spanId": "a", "startTimeUnixNano": "1000000000",
     "endTimeUnixNano": "2000000000",
     "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}},
                    {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "33"}}]},
    {"traceId": "t", "spanId": "b", "startTimeUnixNano": "2500000000",
     "endTimeUnixNano": "3000000000",
     "attributes": [{"key": "gen_ai.usage.prompt_tokens", "value": {"intValue": 44}}]}]}]}]})");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->samples[0].made.tokens, 33);
  EXPECT_EQ(got->samples[1].made.tokens, 44);
  EXPECT_THAT(got->conversations[0].after, ElementsAre(ElementsAre(), ElementsAre(0)));
  EXPECT_EQ(got->conversations[0].turns[1].delay, 500_ms);
  const auto wrong =
      read(TraceKind::otel, R"({"trace_id": "t", "span_id": "a", "start_time": "x"})");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("t.jsonl:1: span 'a': start_time: expected an"));
}

TEST(Trajectory, sessions_of_mooncake_are_chains_with_shared_blocks) {
  const auto got = read_example("mooncake.jsonl", true);
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->conversations.size(), 2U);
  EXPECT_THAT(got->conversations[0].after, ElementsAre(ElementsAre(), ElementsAre(0)));
  EXPECT_EQ(got->conversations[0].turns[1].delay, 2500_ms);
  EXPECT_EQ(shared(*got, 0, 1), 600U);
  EXPECT_EQ(shared(*got, 0, 2), 512U);
  const auto alone = read(TraceKind::mooncake, R"({"input_length": 5, "output_length": 5})");
  ASSERT_FALSE(alone);
  EXPECT_THAT(alone.error().message, HasSubstr("load_pattern.type: trace"));
}

}  // namespace
}  // namespace assay::dataset
