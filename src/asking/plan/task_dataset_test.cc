#include "plan/task_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/format.h"
#include "base/testing_temp_folder.h"
#include "plan/config_reader.h"
#include "plan/make_plan.h"
#include "plan/saved_config.h"

namespace assay::plan {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr std::string_view kSums =
    "task: sums\n"
    "dataset: {file: sums.jsonl, columns: [question, answer], sample: [{question: a, answer: b}]}\n"
    "prompt: 'Q: {{question}} in $US A:'\n"
    "few_shot: {count: 1, file: shots.jsonl, answer: ' {{answer}}', separator: ' | '}\n"
    "generation: {temperature: 0, max_new_tokens: 9}\n"
    "stop: ['Q:']\n"
    "scores: [{metric: number, truth: '{{answer}}', extract: [{regex: '([0-9]+)$'}]}]\n";

// A task of two rows and one example in a folder of its own.
class TaskFiles {
 public:
  TaskFiles() {
    write("sums.yaml", kSums);
    write("sums.jsonl",
          "{\"question\": \"1+1\", \"answer\": \"2\"}\n{\"question\": \"2+2\", \"answer\": "
          "\"4\"}\n");
    write("shots.jsonl", "{\"question\": \"0+0\", \"answer\": \"0\"}\n");
  }
  void write(const std::string& name, std::string_view text) const {
    ASSERT_TRUE(write_file_atomic(folder_.path() / name, text));
  }
  std::string at(const std::string& name) const { return (folder_.path() / name).string(); }

 private:
  TempFolder folder_{};
};

using TaskFlags = std::vector<std::pair<std::string, std::string>>;

Result<LoadedConfig> load_task_run(const TaskFlags& flags, const std::string& folder = {}) {
  ConfigReader reader([](const std::string&) { return std::optional<std::string>(); }, 28232);
  if (!folder.empty()) reader.set_dataset_folder(folder);
  reader.flag("--endpoint", "http://h:1");
  reader.flag("--model", "m");
  for (const auto& [name, value] : flags) reader.flag(name, value);
  return reader.finish();
}

Result<PlanBundle> planned_task_run(const Config& config) {
  ASSIGN_OR_RETURN(auto datasets, load_datasets(config));
  return make_plan(config, std::move(datasets));
}

TEST(TaskDataset, a_task_is_an_accuracy_dataset_whose_prompts_it_makes) {
  const TaskFiles files;
  const auto loaded = load_task_run({{"--task", files.at("sums.yaml")}, {"--temperature", "0.7"}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->config.datasets.size(), 1U);
  const DatasetConfig& data = loaded->config.datasets[0];
  EXPECT_EQ(data.name, "sums");
  EXPECT_EQ(data.type, DatasetType::accuracy);
  EXPECT_EQ(data.path, files.at("sums.jsonl"));
  EXPECT_TRUE(data.accuracy_config->extras["task"]["dataset"]["sample"].is_null());
  EXPECT_THAT(loaded->notes, Contains(HasSubstr("temperature 0, max_new_tokens 9")));
  const auto bundle = planned_task_run(loaded->config);
  ASSERT_TRUE(bundle) << bundle.error().message;
  ASSERT_EQ(bundle->plan.phases.size(), 1U);
  EXPECT_EQ(bundle->plan.phases[0].kind, PhaseKind::accuracy);
  const PlannedDataset& asked = bundle->datasets[0];
  EXPECT_EQ(asked.generation.temperature, 0);
  EXPECT_EQ(asked.generation.max_new_tokens, 9);
  ASSERT_EQ(asked.dataset.samples.size(), 2U);
  const Sample& second = asked.dataset.samples[1];
  EXPECT_EQ(second.prompt, "Q: 0+0 in $US A: 0 | Q: 2+2 in $US A:");
  EXPECT_EQ(second.body["stop"][0].as_string(), "Q:");
  EXPECT_EQ(second.columns["doc"]["answer"].as_string(), "4");
}

TEST(TaskDataset, is_asked_beside_what_is_measured_and_keeps_settings_of_its_own) {
  const TaskFiles files;
  const std::string task = files.at("sums.yaml");
  const auto both = load_task_run({{"--task", task}, {"--isl", "8"}, {"--samples", "3"}});
  ASSERT_TRUE(both) << both.error().message;
  const auto bundle = planned_task_run(both->config);
  ASSERT_TRUE(bundle) << bundle.error().message;
  ASSERT_EQ(bundle->plan.phases.size(), 2U);
  EXPECT_EQ(bundle->plan.phases[0].kind, PhaseKind::performance);
  EXPECT_EQ(bundle->plan.phases[1].name, "sums");
  EXPECT_EQ(bundle->datasets[0].generation.max_new_tokens, 1024);
  // By a dataset's keys, with a name, rows and a limit of its own; --dataset after --task keeps it.
  const auto own = load_task_run(
      {{"--task", task},
       {"--dataset", format("acc:{},name=mine,rows_max=1,accuracy_config.eval_method=task,"
                            "accuracy_config.extras.task={},"
                            "generation_config_override.max_new_tokens=5",
                            files.at("sums.jsonl"), task)}});
  ASSERT_TRUE(own) << own.error().message;
  ASSERT_EQ(own->config.datasets.size(), 2U);
  const auto two = planned_task_run(own->config);
  ASSERT_TRUE(two) << two.error().message;
  EXPECT_EQ(two->datasets[0].dataset.name, "mine");
  EXPECT_EQ(two->datasets[0].dataset.samples.size(), 1U);
  EXPECT_EQ(two->datasets[0].generation.max_new_tokens, 5);
  EXPECT_EQ(two->datasets[1].dataset.samples.size(), 2U);
}

TEST(TaskDataset, a_saved_config_makes_the_same_plan_without_the_tasks_file) {
  const TaskFiles files;
  const auto loaded = load_task_run({{"--task", files.at("sums.yaml")}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto before = planned_task_run(loaded->config);
  ASSERT_TRUE(before) << before.error().message;
  std::filesystem::remove(files.at("sums.yaml"));
  ConfigReader reader([](const std::string&) { return std::optional<std::string>("unset"); },
                      28232);
  reader.read_text(config_to_yaml(loaded->config), "config.yaml");
  const auto again = reader.finish();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->config.datasets[0].accuracy_config->extras,
            loaded->config.datasets[0].accuracy_config->extras);
  const auto after = planned_task_run(again->config);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(plan_digest(*after), plan_digest(*before));
}

TEST(TaskDataset, replies_judged_again_by_another_task_were_asked_by_the_first) {
  const TaskFiles files;
  auto loaded = load_task_run({{"--task", files.at("sums.yaml")}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto before = planned_task_run(loaded->config);
  ASSERT_TRUE(before) << before.error().message;
  loaded->config.datasets[0].accuracy_config->extras.set("task", "gsm8k");
  const auto after = planned_task_run(loaded->config);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(plan_digest(*after), plan_digest(*before));
}

TEST(TaskDataset, files_are_found_beside_the_task_or_in_the_folder_of_datasets) {
  const TaskFiles files;
  const TempFolder elsewhere;
  const std::string task = (elsewhere.path() / "sums.yaml").string();
  ASSERT_TRUE(write_file_atomic(task, kSums));
  const auto missing = load_task_run({{"--task", task}}, elsewhere.path().string());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, Code::not_found);
  EXPECT_THAT(missing.error().message, HasSubstr("task sums: its dataset is not here"));
  const auto found =
      load_task_run({{"--task", task}}, std::filesystem::path(files.at("sums.yaml")).parent_path());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->config.datasets[0].path, files.at("sums.jsonl"));
  EXPECT_EQ(
      found->config.datasets[0].accuracy_config->extras["task"]["few_shot"]["file"].as_string(),
      files.at("shots.jsonl"));
  // A mode that does not ask the task needs none of its files.
  EXPECT_TRUE(load_task_run({{"--task", task}, {"--isl", "8"}, {"--mode", "perf"}},
                            elsewhere.path().string()));
}

TEST(TaskDataset, mistakes_name_the_setting) {
  const TaskFiles files;
  const auto error = [](const TaskFlags& flags) {
    const auto loaded = load_task_run(flags);
    return loaded ? std::string("no error") : loaded.error().message;
  };
  const std::string unknown = error({{"--task", "gsm9k"}});
  EXPECT_THAT(unknown, HasSubstr("no task 'gsm9k', did you mean 'gsm8k'?"));
  EXPECT_THAT(unknown, HasSubstr("there are: gsm8k"));
  EXPECT_THAT(error({{"--dataset", "acc:x.jsonl,accuracy_config.eval_method=task"}}),
              HasSubstr("--dataset: the scorer task needs a task"));
  std::string wrong(kSums);
  wrong.replace(wrong.find("number"), 6, "numbr");
  files.write("wrong.yaml", wrong);
  EXPECT_THAT(error({{"--task", files.at("wrong.yaml")}}), HasSubstr("wrong.yaml:7: scores[0]"));
}

// `assay score RUN --task` judges what a run asked in its own words.
TEST(TaskDataset, a_dataset_that_a_task_only_judges_keeps_its_prompts) {
  const TaskFiles files;
  files.write("asked.jsonl", "{\"prompt\": \"two?\", \"question\": \"1+1\", \"answer\": \"2\"}\n");
  auto loaded = load_task_run({{"--dataset", files.at("asked.jsonl")}});
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto before = planned_task_run(loaded->config);
  ASSERT_TRUE(before) << before.error().message;
  AccuracyConfig& how = loaded->config.datasets[0].accuracy_config.emplace();
  how.eval_method = "task";
  how.extras.set("task", files.at("sums.yaml"));
  const auto after = planned_task_run(loaded->config);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(plan_digest(*after), plan_digest(*before));
  EXPECT_EQ(after->datasets[0].dataset.samples[0].prompt, "two?");
  EXPECT_EQ(after->datasets[0].dataset.samples[0].columns["doc"]["prompt"].as_string(), "two?");
}

}  // namespace
}  // namespace assay::plan
