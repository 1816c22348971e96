#include "task/tasks.h"

#include <algorithm>

#include "base/files.h"
#include "base/format.h"
#include "base/text.h"

namespace assay::task {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

std::string stem_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

// A path beside the task file, where there is such a file.
void place_beside(const std::filesystem::path& task_file, std::string& file) {
  if (file.empty() || std::filesystem::path(file).is_absolute()) return;
  const std::filesystem::path beside = task_file.parent_path() / file;
  std::error_code ignored;
  if (std::filesystem::exists(beside, ignored)) file = beside.string();
}

void set_member(Json& data, std::string_view part, std::string_view key, const std::string& value) {
  if (Json* const map = data.find(part); map != nullptr && !value.empty()) map->set(key, value);
}

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> out;
  for (const EmbeddedFile& file : embedded_tasks()) out.push_back(stem_of(file.name));
  std::sort(out.begin(), out.end());
  return out;
}

Result<Task> find_task(const std::string& name) {
  if (name.ends_with(".yaml") || name.ends_with(".yml")) {
    const std::filesystem::path path(name);
    ASSIGN_OR_RETURN(const std::string text, read_file(path, kFileBytesMax));
    ASSIGN_OR_RETURN(Task task, parse_task(text, name));
    place_beside(path, task.file);
    place_beside(path, task.few_shot.file);
    set_member(task.data, "dataset", "file", task.file);
    set_member(task.data, "few_shot", "file", task.few_shot.file);
    return task;
  }
  for (const EmbeddedFile& file : embedded_tasks()) {
    if (stem_of(file.name) == name) return parse_task(file.text, "tasks/" + file.name);
  }
  const std::vector<std::string> names = task_names();
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::string all;
  for (const std::string_view known : views) all += (all.empty() ? "" : ", ") + std::string(known);
  const std::string_view near = nearest(name, views);
  return invalid(format("no task '{}'{}\n  there are: {}; or a file that ends in .yaml", name,
                        near.empty() ? "" : format(", did you mean '{}'?", near), all));
}

Result<Task> task_of(const Json& value) {
  if (value.is_string()) return find_task(std::string(value.as_string()));
  if (value.is_object()) return task_of_json(value, "task");
  return invalid("extras.task: expected a task's name, its file, or the task itself");
}

Result<std::filesystem::path> dataset_path(const Task& task, const std::string& file,
                                           const std::filesystem::path& folder) {
  std::error_code ignored;
  const std::filesystem::path below = folder / file;
  for (const std::filesystem::path& path : {std::filesystem::path(file), below}) {
    if (std::filesystem::exists(path, ignored)) return path;
  }
  std::string text = format("task {}: its dataset is not here: '{}'\n", task.name, below.string());
  if (!task.published.empty()) text += format("  its owners publish it at: {}\n", task.published);
  if (!task.prepare.empty()) text += format("  {}\n", task.prepare);
  if (!task.sample.empty()) {
    text += format("  for a first try: assay tasks {} --sample {}\n", task.name, folder.string());
  }
  text += "  its folder: --dataset-dir DIR or $ASSAY_DATASETS";
  return Error{Code::not_found, std::move(text)};
}

}  // namespace assay::task
