#include "domain/tool_call.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

using Calls = std::vector<ToolCall>;

TEST(ToolCall, pieces_of_one_call_are_joined_by_their_index) {
  EXPECT_EQ(tool_calls_from("\x1E"
                            "0\x1F"
                            "call_a\x1Fget_weather\x1F"
                            "{\"city\":"
                            "\"Oslo\"}"),
            (Calls{{0, "call_a", "get_weather", "{\"city\":\"Oslo\"}"}}));
  // Two calls whose arguments alternate.
  EXPECT_EQ(tool_calls_from("\x1E"
                            "0\x1F"
                            "a\x1F"
                            "f\x1F{"
                            "\x1E"
                            "1\x1F"
                            "b\x1Fg\x1F["
                            "\x1E"
                            "0\x1F\x1F\x1F}"
                            "\x1E"
                            "1\x1F\x1F\x1F]"),
            (Calls{{0, "a", "f", "{}"}, {1, "b", "g", "[]"}}));
}

TEST(ToolCall, servers_that_number_every_call_0_or_repeat_the_name_are_understood) {
  EXPECT_EQ(tool_calls_from("\x1E"
                            "0\x1F"
                            "a\x1F"
                            "f\x1F{}"
                            "\x1E"
                            "0\x1F"
                            "b\x1F"
                            "f\x1F[]"),
            (Calls{{0, "a", "f", "{}"}, {0, "b", "f", "[]"}}));
  EXPECT_EQ(tool_calls_from("\x1E"
                            "0\x1F"
                            "a\x1F"
                            "f\x1F{"
                            "\x1E"
                            "0\x1F"
                            "a\x1F"
                            "f\x1F}"),
            (Calls{{0, "a", "f", "{}"}}));
}

TEST(ToolCall, damaged_text_loses_no_words) {
  EXPECT_EQ(tool_calls_from(""), Calls{});
  EXPECT_EQ(tool_calls_from("{}"), (Calls{{0, "", "", "{}"}}));
  EXPECT_EQ(tool_calls_from("\x1E"
                            "7\x1F"
                            "x"),
            (Calls{{0, "", "",
                    "7\x1F"
                    "x"}}));
}

TEST(ToolCall, words_are_what_the_model_said) {
  EXPECT_EQ(tool_call_words("\x1E"
                            "0\x1F"
                            "call_a\x1F"
                            "f\x1F{"
                            "}"
                            "\x1E"
                            "1\x1F"
                            "b\x1Fg\x1F[]"),
            "f{}g[]");
}

}  // namespace
}  // namespace assay
