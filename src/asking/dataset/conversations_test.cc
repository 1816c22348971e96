#include "dataset/conversations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/testing_temp_folder.h"

namespace assay::dataset {
namespace {

using testing::HasSubstr;

constexpr std::string_view kTwo =
    R"({"_type": "dataset_metadata", "note": "no row"}
)"
    R"({"conversation_id": "c1", "turn": 1, "role": "user", "content": "weather?", )"
    R"("system": "be brief", "tools": [{"type": "function"}], "max_new_tokens": 50, "model": "m2"}
)"
    R"({"conversation_id": "c1", "turn": 2, "role": "assistant", "tool_calls": )"
    R"([{"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}
)"
    R"({"conversation_id": "c1", "turn": 3, "role": "tool", "delay_seconds": 1.5, )"
    R"("temperature": 0.5, "tool_results": [{"tool_call_id": "t1", "content": "rain"}]}
)"
    R"({"conversation_id": "c1", "turn": 4, "role": "assistant", "content": "rain", )"
    R"("reasoning_content": "hm"}
{"conversation_id": "c1", "turn": 5, "role": "user", "content": "thanks"}
{"conversation_id": "c2", "turn": 1, "role": "user", "content": "hi"}
)";

Result<Dataset> loaded(std::string_view text) {
  const TempFolder folder;
  const auto path = folder.path() / "c.jsonl";
  EXPECT_TRUE(write_file_atomic(path, text));
  return load_conversations(
      {.name = "c", .path = path.string(), .keep_columns = true, .conversations = true});
}

TEST(ConversationRows, EachClientsTurnAsksTheHistoryBeforeIt) {
  const auto data = loaded(kTwo);
  ASSERT_TRUE(data) << data.error().message;
  ASSERT_EQ(data->conversations.size(), 2U);
  const auto& turns = data->conversations[0].turns;
  ASSERT_EQ(turns.size(), 3U);
  EXPECT_EQ(turns[1].delay, 1500_ms);
  const Sample& tool = data->samples[turns[1].sample];
  EXPECT_EQ(tool.messages.dump(),
            R"([{"role":"system","content":"be brief"},{"role":"user","content":"weather?"},)"
            R"({"role":"assistant","tool_calls":[{"id":"t1","type":"function",)"
            R"("function":{"name":"look","arguments":"{}"}}],"content":null},)"
            R"({"role":"tool","tool_call_id":"t1","content":"rain"}])");
  EXPECT_EQ(tool.session, "c1");
  EXPECT_EQ(tool.turn, 3);
  EXPECT_EQ(tool.output_tokens_max, 50) << "of the first user's row";
  EXPECT_EQ(tool.tools.dump(), R"([{"type":"function"}])");
  EXPECT_EQ(tool.overrides.dump(), R"({"temperature":0.5,"model":"m2"})");
  EXPECT_EQ(tool.columns["expected"]["content"].as_string(), "rain");
  EXPECT_EQ(tool.columns["turn"].as_int(), 3);
  const Sample& last = data->samples[turns[2].sample];
  EXPECT_EQ(last.messages[4]["reasoning_content"].as_string(), "hm");
  EXPECT_TRUE(last.columns["expected"].is_null());
  EXPECT_TRUE(data->samples[3].overrides.is_null());
}

// Where a template refuses a prompt its JSON is counted, in the reference client's order.
TEST(ConversationRows, AnAssistantsKeysComeInTheReferenceClientsOrder) {
  const auto data = loaded(
      R"({"conversation_id": "c", "turn": 1, "role": "user", "content": "weather?"}
{"conversation_id": "c", "turn": 2, "role": "assistant", "reasoning_content": "hm", "tool_calls": )"
      R"([{"id": "t1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}
{"conversation_id": "c", "turn": 3, "role": "tool", )"
      R"("tool_results": [{"tool_call_id": "t1", "content": "rain"}]}
)");
  ASSERT_TRUE(data) << data.error().message;
  std::string keys;
  for (const auto& [key, value] : data->samples[1].messages[1].members()) keys += key + " ";
  EXPECT_EQ(keys, "role tool_calls reasoning_content content ");
}

// A template that prints the content prints "None" for null and nothing for "".
TEST(ConversationRows, AnEmptyContentBesideCallsStaysEmptyAndAMissingOneIsNull) {
  for (const auto& [said, sent] :
       {std::pair{R"("content": "", )", R"("")"}, std::pair{R"("content": null, )", "null"},
        std::pair{"", "null"}}) {
    std::string rows(kTwo);
    const std::string_view calls = R"("tool_calls": )";
    rows.insert(rows.find(calls), said);
    const auto data = loaded(rows);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->samples[1].messages[2]["content"].dump(), sent) << said;
  }
}

TEST(ConversationRows, WhatBreaksTheOrderIsNamedWithItsLine) {
  const auto refused = [](std::string_view rows) {
    const auto data = loaded(rows);
    return data ? std::string("nothing wrong") : data.error().message;
  };
  const std::string user = R"({"conversation_id": "c", "turn": 1, "role": "user", "content": "x"})";
  EXPECT_THAT(refused(user + "\n" + user), HasSubstr(":2: conversation 'c': turn 1 where 2 comes"));
  EXPECT_THAT(refused(user + "\n" +
                      R"({"conversation_id": "c", "turn": 2, "role": "user", "content": "y"})"),
              HasSubstr("a user's row follows a user's"));
  EXPECT_THAT(
      refused(R"({"conversation_id": "c", "turn": 1, "role": "assistant", "content": "y"})"),
      HasSubstr(":1: conversation 'c': an assistant's row follows neither"));
  EXPECT_THAT(refused(user + "\n" + R"({"conversation_id": "c", "turn": 2, "role": "assistant"})"),
              HasSubstr("neither content nor tool_calls"));
  EXPECT_THAT(refused(R"({"conversation_id": "c", "turn": 1, "role": "system"})"),
              HasSubstr("role: expected user, assistant or tool"));
  EXPECT_THAT(refused(R"({"turn": 1, "role": "user", "content": "x"})"),
              HasSubstr("conversation_id: expected printable ASCII"));
  const std::string other =
      R"({"conversation_id": "d", "turn": 1, "role": "user", "content": "x"})";
  EXPECT_THAT(refused(user + "\n" + other + "\n" + user), HasSubstr("its rows are not together"));
  EXPECT_THAT(refused(""), HasSubstr("no conversation"));
}

}  // namespace
}  // namespace assay::dataset
