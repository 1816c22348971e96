#include "desk/tool_run.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"

namespace assay::desk {
namespace {

std::string call_text(std::string_view name, const Json& input) {
  return "I do this:\n```json\n" +
         Json().set("type", "tool_use").set("name", name).set("input", input).dump() + "\n```\n";
}

std::string shell_call(std::string_view command) {
  return call_text("execute", Json().set("command", command));
}

// An agent's conversation with these recorded answers.
PromptFile conversation_of(const std::vector<std::string>& answers) {
  PromptFile out{.name = "agent.json", .tokens_max = 8};
  const auto add = [&out](std::string_view role, std::string_view text) {
    ClientPrompt prompt{.recorded = role == "assistant"};
    prompt.messages = Json().push_back(Json().set("role", role).set("content", text));
    out.prompts.push_back(std::move(prompt));
  };
  add("system", "wake");
  for (const std::string& answer : answers) {
    add("user", "go on");
    add("assistant", answer);
  }
  return out;
}

class ToolRun : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_folders(folder_.path() / "box/in"));
    ASSERT_TRUE(write_file_atomic(folder_.path() / "box/in/a.txt", "one\n"));
  }

  std::vector<Item> ran(const std::vector<PromptFile>& files, std::uint32_t iterations = 1) {
    auto series = make_series(files, {.iterations = iterations, .agentic = true});
    EXPECT_TRUE(series) << series.error().message;
    const auto done = run_tools(files, folder_.path() / "box", iterations, *series);
    EXPECT_TRUE(done) << done.error().message;
    return series->items;
  }

  TempFolder folder_{};
};

TEST_F(ToolRun, each_iteration_begins_with_a_fresh_copy_that_its_turns_share) {
  const std::string once =
      "test ! -e tools_sandbox/new && test $(cat tools_sandbox/in/a.txt) = one && "
      "python -c \"open('tools_sandbox/new', 'w')\"";
  const auto items =
      ran({conversation_of({
               shell_call(once),
               call_text("read", Json().set("path", "new")) +
                   call_text("write", Json().set("path", "x/y").set("content", "z")) +
                   shell_call("cat tools_sandbox/x/y"),
               "no call",
           }),
           conversation_of({shell_call(once)})},
          3);
  ASSERT_EQ(items.size(), 4U);
  for (const Item& item : items) EXPECT_EQ(item.tools_why, "");
  EXPECT_GT(*items[0].tools_s, 0);
  EXPECT_GT(*items[1].tools_s, 0);
  EXPECT_EQ(*items[2].tools_s, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "box/new"));
}

TEST_F(ToolRun, a_patch_is_applied_from_the_folder_above) {
  const std::string diff =
      "--- tools_sandbox/in/a.txt\n+++ tools_sandbox/in/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
  const auto items = ran({conversation_of(
      {call_text("patch", Json().set("path", "in/a.txt").set("diff", diff)) +
       shell_call("grep two tools_sandbox/in/a.txt && test ! -e tools_sandbox/in/a.diff")})});
  EXPECT_EQ(items[0].tools_why, "");
}

TEST_F(ToolRun, what_fails_or_is_refused_is_named_and_has_no_time) {
  const auto why = [this](const std::string& answer) {
    const auto items = ran({conversation_of({answer, shell_call("true")})});
    EXPECT_FALSE(items[0].tools_s);
    EXPECT_TRUE(items[1].tools_s);
    return items[0].tools_why;
  };
  EXPECT_EQ(why(shell_call("echo no; exit 3")), "the recorded call of execute failed: no\\n");
  EXPECT_NE(why(call_text("read", Json().set("path", "../../etc/passwd"))).find("not in tools_s"),
            std::string::npos);
  EXPECT_NE(why(call_text("read", Json().set("path", "none"))).find("No such file"),
            std::string::npos);
  EXPECT_EQ(
      why(shell_call("true") + call_text("delete", Json().set("path", "in"))),
      R"(the recorded call of delete is refused: "delete" is not a tool: read, write, patch, )"
      "execute");
  // Neither this machine's files nor its network are there.
  EXPECT_NE(why(shell_call("ls " + folder_.path().string())), "");
}

TEST_F(ToolRun, a_folder_that_is_not_there_is_named) {
  const std::vector<PromptFile> files{conversation_of({shell_call("true")})};
  auto series = make_series(files, {.iterations = 1, .agentic = true});
  ASSERT_TRUE(series);
  const auto done = run_tools(files, folder_.path() / "none", 1, *series);
  ASSERT_FALSE(done);
  EXPECT_NE(done.error().message.find("--tools"), std::string::npos);
}

TEST(RecordedTokens, each_turn_has_those_of_its_answer) {
  const std::vector<PromptFile> files{conversation_of({"four", "sixsix"}), conversation_of({"1"})};
  auto series = make_series(files, {.iterations = 2, .agentic = true});
  ASSERT_TRUE(series);
  const auto letters = [](std::string_view text) -> Result<std::size_t> { return text.size(); };
  ASSERT_TRUE(count_recorded(files, letters, *series));
  EXPECT_EQ(series->items[0].recorded_tokens, 4);
  EXPECT_EQ(series->items[1].recorded_tokens, 6);
  EXPECT_EQ(series->items[2].recorded_tokens, 1);
  EXPECT_EQ(*count_tool_calls(files), 0U);
  const auto again = series_from(series_facts(*series));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->items, series->items);
}

}  // namespace
}  // namespace assay::desk
