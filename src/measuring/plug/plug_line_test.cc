#include "plug/plug_line.h"

#include <gtest/gtest.h>

#include "domain/tool_call.h"

namespace assay::plug {
namespace {

TEST(PlugLine, a_line_of_each_form_is_read) {
  const PlugLine ready = read_plug_line(R"({"ready": true, "name": "m"})").value();
  EXPECT_EQ(ready.kind, PlugLine::Kind::ready);
  EXPECT_EQ(ready.name, "m");
  const PlugLine text = read_plug_line(R"({"query": 7, "text": "h\u00e9", "later": 1})").value();
  EXPECT_EQ(text.query, 7U);
  EXPECT_EQ(text.text, "h\xc3\xa9");
  EXPECT_EQ(text.category, Category::text);
  EXPECT_FALSE(text.done || text.failed);
  EXPECT_EQ(read_plug_line(R"({"query": 7, "reasoning": "r"})")->category, Category::reasoning);
  const PlugLine done =
      read_plug_line(R"({"query": 8, "text": "x", "done": true, "finish": "length",
                         "usage": {"prompt_tokens": 3, "completion_tokens": 2}})")
          .value();
  EXPECT_TRUE(done.done && done.has_fragment);
  EXPECT_EQ(done.finish, FinishReason::length);
  EXPECT_EQ(done.usage.completion_tokens, 2);
  EXPECT_EQ(done.usage.cached_tokens, -1);
  const PlugLine error = read_plug_line(R"({"query": 8, "error": "no memory"})").value();
  EXPECT_TRUE(error.failed);
  EXPECT_EQ(error.error, "no memory");
  EXPECT_EQ(
      read_plug_line(R"({"query":1,"usage":{"completion_tokens":-4}})")->usage.completion_tokens,
      kNoCount);
}

TEST(PlugLine, a_tool_call_keeps_its_words) {
  for (
      const char* line :
      {R"({"query":1,"tool_call":{"index":2,"id":"c","function":{"name":"f","arguments":"{\"a\":1}"}}})",
       R"({"query":1,"tool_call":{"index":2,"id":"c","name":"f","arguments":{"a":1}}})"}) {
    const PlugLine call = read_plug_line(line).value();
    const auto calls = tool_calls_from(call.text);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0], (ToolCall{2, "c", "f", "{\"a\":1}"}));
  }
}

TEST(PlugLine, what_is_no_line_of_the_protocol_is_named) {
  const auto why = [](std::string_view line) {
    const auto read = read_plug_line(line);
    return read ? std::string("read") : read.error().message;
  };
  EXPECT_EQ(why("Loading model…"), "no JSON object: Loading model…");
  EXPECT_EQ(why("[1]"), "no JSON object: [1]");
  EXPECT_EQ(why(R"({"text":"x"})"),
            R"(no "query" with the number of the query, and no "ready": true: {"text":"x"})");
  EXPECT_EQ(why(R"({"query":-1,"text":"x"})").substr(0, 10), "no \"query\"");
  EXPECT_EQ(why(R"({"query":1,"text":3})").substr(0, 21), "\"text\" must be a text");
  EXPECT_EQ(why(R"({"query":1,"text":"a","reasoning":"b"})").substr(0, 12), "one line hol");
  EXPECT_EQ(why(R"({"query":1,"done":"yes"})").substr(0, 19), "\"done\" must be true");
  EXPECT_EQ(why(R"({"query":1})").substr(0, 18), "neither a fragment");
  EXPECT_EQ(why(R"({"query":1,"tool_call":"f"})").substr(0, 11), "\"tool_call\"");
  EXPECT_EQ(why(R"({"query":1,"tool_call":{"name":"a\u001fb"}})").substr(12, 25),
            "holds a control character");
  EXPECT_EQ(why(R"({"query":1,"done":false})").substr(0, 18), "neither a fragment");
}

}  // namespace
}  // namespace assay::plug
