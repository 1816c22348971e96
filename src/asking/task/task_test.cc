#include "task/task.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "task/prompt.h"
#include "task/tasks.h"

namespace assay::task {
namespace {

constexpr std::string_view kSmall =
    "task: sums\n"
    "dataset: {file: sums.jsonl, columns: [question, answer]}\n"
    "prompt: \"Q: {{question}}\\nA:\"\n"
    "scores:\n"
    "  - metric: number\n"
    "    truth: '{{answer}}'\n"
    "    extract: [number]\n";

// The small task with a line more, or with one replaced.
std::string with(std::string_view from, std::string_view to) {
  std::string text(kSmall);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}
std::string and_line(std::string_view line) { return std::string(kSmall) + std::string(line); }

std::string error_of_task(const std::string& yaml) {
  const auto task = parse_task(yaml, "my.yaml");
  return task ? "no error" : task.error().message;
}

Json object(std::string_view text) { return Json::parse(text).value(); }

TEST(Task, reads_what_a_file_says) {
  const auto task = parse_task(and_line("few_shot: {count: 2, answer: ' {{answer}}', seed: 7}\n"
                                        "stop: [\"\\n\", Q]\nby: subject\nweigh: categories\n"),
                               "my.yaml");
  ASSERT_TRUE(task) << task.error().message;
  EXPECT_EQ(task->name, "sums");
  EXPECT_EQ(task->few_shot.count, 2U);
  EXPECT_EQ(task->stop, (std::vector<std::string>{"\n", "Q"}));
  EXPECT_TRUE(task->weigh_categories);
  ASSERT_EQ(task->rules.size(), 1U);
  EXPECT_EQ(task->rules[0].metric, Metric::number);
  EXPECT_EQ(task->rules[0].name, "number");
  // A run keeps the task as JSON, and reads the same from it.
  const auto again = task_of_json(task->data, "task");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->data, task->data);
  EXPECT_EQ(again->stop, task->stop);
}

TEST(Task, an_error_names_file_line_field_and_fix) {
  EXPECT_EQ(error_of_task(with("metric: number", "metric: numbr")),
            "my.yaml:5: scores[0].metric: unknown 'numbr'\n  did you mean 'number'?");
  EXPECT_EQ(error_of_task(with("[number]", "[{regex: '([0-9'}]")),
            "my.yaml:7: scores[0].extract[0].regex: regex '([0-9', at byte 5: a [ is not closed\n"
            "  patterns are those of Python's re, without back references; single quotes keep "
            "their backslashes");
  EXPECT_EQ(error_of_task(and_line("promt: x\n")),
            "my.yaml:8: unknown key 'promt'\n  did you mean 'prompt'?");
  EXPECT_EQ(error_of_task(with("[number]", "[numbre]")),
            "my.yaml:7: scores[0].extract[0]: unknown 'numbre'\n  did you mean 'number'?");
  EXPECT_EQ(error_of_task(with("    truth: '{{answer}}'\n", "")),
            "my.yaml:5: scores[0]: 'truth' is missing\n  truth: '{{ answer }}', the column of the "
            "true answer");
  EXPECT_EQ(error_of_task(and_line("few_shot: {count: 2}\n")),
            "my.yaml:8: few_shot: 'answer' is missing\n  answer: ' {{ answer }}', an example's "
            "reply");
  EXPECT_EQ(error_of_task(and_line("weigh: categories\n")),
            "my.yaml:8: weigh: 'categories' needs a column\n  by: subject");
  const std::string wrong = error_of_task(with("{{question}}", "{{question"));
  EXPECT_TRUE(wrong.starts_with("my.yaml:3: prompt: ")) << wrong;
  EXPECT_NE(error_of_task("task: [").find("my.yaml:"), std::string::npos);
  EXPECT_NE(error_of_task(with("extract: [number]", "extract: [{regex: '(a)', group: 2}]"))
                .find("group: expected a whole number from 0 to 1"),
            std::string::npos);
}

TEST(Task, a_template_keeps_the_newlines_at_its_end) {
  const auto one = Template::parse("About {{x}}.\n\n");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->render(object(R"({"x":"y"})")).value(), "About y.\n\n");
}

TEST(Prompter, asks_a_row_with_its_examples_and_keeps_the_row) {
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "sums.jsonl",
                                "{\"question\":\"1+1\",\"answer\":2}\n"
                                "{\"question\":\"1+2\",\"answer\":3}\n"
                                "{\"question\":\"2+2\",\"answer\":4}\n"));
  const auto task =
      parse_task(and_line("few_shot: {count: 1, answer: ' {{answer}}'}\nstop: [Q]\nintro: Sums.\n"),
                 "my.yaml");
  ASSERT_TRUE(task) << task.error().message;
  auto prompter = Prompter::make(*task, folder.path() / "sums.jsonl", folder.path());
  ASSERT_TRUE(prompter) << prompter.error().message;
  const Json first = prompter->ask(object(R"({"question":"1+1","answer":2})")).value();
  // The first row is no example of itself.
  EXPECT_EQ(first["prompt"].as_string(), "Sums.Q: 1+2\nA: 3\n\nQ: 1+1\nA:");
  EXPECT_EQ(first["stop"].dump(), R"(["Q"])");
  EXPECT_EQ(first["doc"]["answer"].as_int(), 2);
  const Json second = prompter->ask(object(R"({"question":"1+2","answer":3})")).value();
  EXPECT_EQ(second["prompt"].as_string(), "Sums.Q: 1+1\nA: 2\n\nQ: 1+2\nA:");
  const auto lacks = prompter->ask(object(R"({"question":"1+2"})"));
  ASSERT_FALSE(lacks);
  EXPECT_NE(lacks.error().message.find("no column 'answer'"), std::string::npos);
}

TEST(Prompter, draws_the_same_examples_for_a_seed_and_may_write_them_as_turns) {
  std::string rows;
  for (int i = 0; i < 50; ++i) rows += format("{{\"question\":\"q{}\",\"answer\":{}}}\n", i, i);
  const TempFolder folder;
  ASSERT_TRUE(write_file_atomic(folder.path() / "more.jsonl", rows));
  const auto prompt = [&](int seed) {
    const auto task = parse_task(
        and_line(format("few_shot: {{count: 3, file: more.jsonl, draw: random, seed: {}, as: "
                        "turns, answer: '{{{{answer}}}}'}}\nsystem: Add.\n",
                        seed)),
        "my.yaml");
    EXPECT_TRUE(task) << task.error().message;
    auto prompter = Prompter::make(*task, "none", folder.path());
    EXPECT_TRUE(prompter) << prompter.error().message;
    return prompter->ask(object(R"({"question":"last","answer":0})")).value();
  };
  const Json one = prompt(1);
  ASSERT_EQ(one["messages"].size(), 8U);
  EXPECT_EQ(one["messages"][0]["content"].as_string(), "Add.");
  EXPECT_EQ(one["messages"][2]["role"].as_string(), "assistant");
  EXPECT_EQ(one["messages"][7]["content"].as_string(), "Q: last\nA:");
  EXPECT_EQ(one, prompt(1));
  EXPECT_NE(one, prompt(2));
}

TEST(Tasks, the_ready_ones_parse_and_their_samples_can_be_asked) {
  ASSERT_FALSE(task_names().empty());
  for (const std::string& name : task_names()) {
    const auto task = find_task(name);
    ASSERT_TRUE(task) << task.error().message;
    EXPECT_EQ(task->name, name);
    EXPECT_FALSE(task->published.empty()) << name;
    EXPECT_FALSE(task->sources.empty()) << name;
    ASSERT_FALSE(task->sample.empty()) << name;
    const TempFolder folder;
    const auto lines = [](const std::vector<Json>& rows) {
      std::string out;
      for (const Json& row : rows) out += row.dump() + "\n";
      return out;
    };
    ASSERT_TRUE(write_file_atomic(folder.path() / task->file, lines(task->sample)));
    if (!task->few_shot.file.empty()) {
      ASSERT_TRUE(
          write_file_atomic(folder.path() / task->few_shot.file, lines(task->few_shot.sample)));
    }
    auto prompter = Prompter::make(*task, folder.path() / task->file, folder.path());
    ASSERT_TRUE(prompter) << name << ": " << prompter.error().message;
    for (const Json& row : task->sample) {
      const auto asked = prompter->ask(row);
      ASSERT_TRUE(asked) << name << ": " << asked.error().message;
      EXPECT_FALSE((*asked)["prompt"].as_string().empty()) << name;
    }
  }
}

TEST(Tasks, an_unknown_name_lists_the_known_ones) {
  const auto none = find_task("gsm8");
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("did you mean 'gsm8k'?"), std::string::npos);
}

}  // namespace
}  // namespace assay::task
