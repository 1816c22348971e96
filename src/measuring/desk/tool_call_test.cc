#include "desk/tool_call.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::desk {
namespace {

std::vector<std::string> names_of(std::string_view answer) {
  const auto calls = tool_calls(answer);
  EXPECT_TRUE(calls) << calls.error().message;
  std::vector<std::string> out;
  for (const ToolCall& one : *calls) out.push_back(one.name + one.problem);
  return out;
}

using Names = std::vector<std::string>;

TEST(ToolCall, calls_are_found_in_words_fences_and_lists) {
  const std::string read = R"({"type": "tool_use", "name": "read", "input": {"path": "a"}})";
  const std::string write =
      R"({"type": "tool_use", "id": "7", "name": "write", "input": {"path": "a", "content": "}"}})";
  EXPECT_EQ(names_of(""), Names{});
  EXPECT_EQ(names_of(R"(tool_use {"name": "read"})"), Names{});
  EXPECT_EQ(names_of(read), Names{"read"});
  EXPECT_EQ(names_of("First I read.\n```json\n" + read + "\n```\nThen {I} write:" + write),
            (Names{"read", "write"}));
  EXPECT_EQ(names_of("  ```\t\n[" + write + ", 3, " + read + "]\n```"), (Names{"write", "read"}));
  EXPECT_EQ(names_of(R"({"role": "assistant", "content": [)" + read + "]}"), Names{"read"});
  EXPECT_EQ(names_of("```" + read + "``` and { no end " + write), (Names{"read", "write"}));
  // An object around a call is no call, and its inside is not looked at.
  EXPECT_EQ(names_of(R"(so: {"call": )" + read + "}"), Names{});
  EXPECT_EQ(names_of("{ \"not\" json " + read + "}"), Names{"read"});
  const auto calls = tool_calls(write);
  ASSERT_TRUE(calls);
  EXPECT_EQ(calls->front().input["content"].as_string(), "}");
}

TEST(ToolCall, a_call_that_client_refuses_says_why) {
  const auto problem = [](std::string_view rest) {
    const auto calls = tool_calls(R"({"type": "tool_use", )" + std::string(rest) + "}");
    return calls && calls->size() == 1 ? calls->front().problem : "not one call";
  };
  EXPECT_EQ(problem(R"("name": "execute", "input": {"command": "ls", "cwd": "/"})"), "");
  EXPECT_EQ(problem(R"("name": "execute", "input": {"cwd": "/"})"), "input.command: is missing");
  EXPECT_EQ(problem(R"("name": "patch", "input": {"path": "a"})"), "input.diff: is missing");
  EXPECT_EQ(problem(R"("name": "read", "input": {"path": 3})"), "input.path: must be a text");
  EXPECT_EQ(problem(R"("name": "read", "input": {"path": "a", "": "b"})"),
            "input.: read has no such argument");
  EXPECT_EQ(problem(R"("name": "read", "id": 3, "input": {"path": "a"})"), "id: must be a text");
  EXPECT_EQ(problem(R"("name": "read", "input": "a")"), "input: must be an object");
  EXPECT_EQ(problem(R"("name": "read_file", "input": {})"),
            R"("read_file" is not a tool: read, write, patch, execute)");
}

TEST(ToolCall, braces_that_never_close_end_with_an_error) {
  EXPECT_FALSE(tool_calls("tool_use" + std::string(8'000, '{')));
  EXPECT_TRUE(tool_calls("tool_use" + std::string(2'000, '{')));
}

}  // namespace
}  // namespace assay::desk
