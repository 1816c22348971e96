#include "plan/task_dataset.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "plan/resolve.h"
#include "plan/workload.h"
#include "task/prompt.h"
#include "task/tasks.h"

namespace assay::plan {
namespace {

bool is_of_task(const DatasetConfig& data) {
  return data.accuracy_config && data.accuracy_config->eval_method == "task";
}

// The first line is what is wrong, and the others are what to do.
void report(const std::string& path, const std::string& message, Reading& reading) {
  const std::size_t end = message.find('\n');
  const std::string_view rest =
      end == std::string::npos ? std::string_view() : std::string_view(message).substr(end + 1);
  reading.wrong_setting(path, message.substr(0, end), std::string(trim(rest)));
}

// The task's generation settings, where the dataset has none; each one is named for the user.
void take_generation(const task::Task& task, DatasetConfig& data, Reading& reading) {
  std::string taken;
  for (const auto& [key, value] : task.generation.members()) {
    if (data.generation_config_override.find(key) != nullptr) continue;
    data.generation_config_override.set(key, value);
    taken += format("{}{} {}", taken.empty() ? "" : ", ", key, value.dump());
  }
  if (taken.empty()) return;
  reading.note(
      format("task {}: its replies are generated with {}, whatever the run's own settings are "
             "(generation_config_override of its dataset chooses others)",
             task.name, taken));
}

void read_one(DatasetConfig& data, const std::string& path, Reading& reading) {
  Json& extras = data.accuracy_config->extras;
  const std::string where = path + ".accuracy_config.extras.task";
  if (data.agentic_inference || data.synthetic) {
    reading.wrong_setting(where, "a task asks the rows of a file",
                          "delete agentic_inference, or synthetic");
    return;
  }
  if (extras["task"].is_null()) {
    reading.wrong_setting(where, "the scorer task needs a task, by name or file",
                          "assay tasks lists the ready ones");
    return;
  }
  auto task = task::task_of(extras["task"]);
  if (!task) return report(where, task.error().message, reading);
  extras.set("task", task->data);
  data.asking_task = task->data;
  if (data.name.empty()) data.name = task->name;
  if (data.format.empty()) data.format = task->format;
  take_generation(*task, data, reading);
}

Result<void> find_files(const task::Task& task, const std::filesystem::path& folder,
                        DatasetConfig& data) {
  if (data.path.empty()) {
    ASSIGN_OR_RETURN(const auto path, task::dataset_path(task, task.file, folder));
    data.path = path.string();
  }
  const task::FewShot& shots = task.few_shot;
  if (shots.count == 0 || shots.file.empty() || !shots.examples.empty()) return {};
  ASSIGN_OR_RETURN(const auto path, task::dataset_path(task, shots.file, folder));
  data.asking_task.find("few_shot")->set("file", path.string());
  return {};
}

// Made-up rows are for a first try, and no part of a run's record.
void leave_out_samples(Json& task) {
  for (const char* part : {"dataset", "few_shot"}) {
    if (Json* const map = task.find(part); map != nullptr) map->erase("sample");
  }
}

// What a dataset's rows are asked with; the prompter refers to the task.
struct Asking {
  task::Task task{};
  std::optional<task::Prompter> prompter{};
};

}  // namespace

void read_tasks(Config& config, Reading& reading) {
  for (std::size_t i = 0; i < config.datasets.size(); ++i) {
    DatasetConfig& data = config.datasets[i];
    if (is_of_task(data)) read_one(data, format("datasets[{}]", i), reading);
  }
}

Result<void> find_task_files(Config& config, const std::filesystem::path& folder) {
  for (DatasetConfig& data : config.datasets) {
    if (data.asking_task.is_null()) continue;
    ASSIGN_OR_RETURN(const task::Task task, task::task_of(data.asking_task));
    if (wants(config, data)) TRY(find_files(task, folder, data));
    leave_out_samples(data.asking_task);
    data.accuracy_config->extras.set("task", data.asking_task);
  }
  return {};
}

Result<void> ask_by_task(const DatasetConfig& data, dataset::Spec& spec) {
  if (data.asking_task.is_null()) {
    if (!is_of_task(data) || data.agentic_inference) return {};
    spec.make_row = [](Json row) -> Result<Json> {
      Json doc = row;
      row.set("doc", std::move(doc));
      return row;
    };
    return {};
  }
  auto asking = std::make_shared<Asking>();
  ASSIGN_OR_RETURN(asking->task, task::task_of(data.asking_task));
  ASSIGN_OR_RETURN(auto prompter, task::Prompter::make(asking->task, data.path, dataset_folder()));
  asking->prompter.emplace(std::move(prompter));
  spec.make_row = [asking](Json row) { return asking->prompter->ask(std::move(row)); };
  return {};
}

}  // namespace assay::plan
