#include "task/show_task.h"

#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/text.h"
#include "task/tasks.h"

namespace assay::task {
namespace {

std::string joined_names(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

void task_line(std::string_view label, std::string_view text, const Talk& talk) {
  if (!text.empty()) talk.print(format("{:<12}{}\n", label, text));
}

void show_task(const Task& task, const Talk& talk) {
  talk.print(format("{}: {}\n\n", task.name, task.title));
  task_line("dataset", task.file, talk);
  task_line("", format("columns {}", joined_names(task.columns)), talk);
  if (task.rows > 0) {
    task_line("", with_thousands(static_cast<std::int64_t>(task.rows)) + " rows", talk);
  }
  task_line("published", task.published, talk);
  task_line("", task.prepare, talk);
  if (task.few_shot.count > 0) {
    task_line("examples",
              format("{} of {}", task.few_shot.count,
                     task.few_shot.file.empty() ? "the dataset" : task.few_shot.file),
              talk);
  }
  for (const Rule& rule : task.rules) {
    task_line(&rule == &task.rules.front() ? "scores" : "",
              rule.name == to_string(rule.metric)
                  ? rule.name
                  : format("{} ({})", rule.name, to_string(rule.metric)),
              talk);
  }
  if (!task.by.empty()) task_line("by", task.by, talk);
  for (const std::string& note : task.notes) task_line("note", note, talk);
  for (const std::string& source : task.sources) task_line("source", source, talk);
}

Result<void> write_rows(const std::filesystem::path& path, const std::vector<Json>& rows,
                        const Talk& talk) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (std::filesystem::exists(path, error)) {
    return invalid(format("--sample: '{}' exists already, and is not overwritten", path.string()));
  }
  std::string text;
  for (const Json& row : rows) text += row.dump() + "\n";
  TRY(write_file_atomic(path, text));
  talk.say(format("wrote {}: {} made-up rows", path.string(), rows.size()));
  return {};
}

Result<void> write_sample(const Task& task, const std::filesystem::path& folder, const Talk& talk) {
  if (task.sample.empty()) return invalid(format("task {}: it has no sample", task.name));
  TRY(write_rows(folder / task.file, task.sample, talk));
  if (task.few_shot.file.empty() || task.few_shot.sample.empty()) return {};
  return write_rows(folder / task.few_shot.file, task.few_shot.sample, talk);
}

Result<int> list_tasks(bool json, const Talk& talk) {
  Json all = Json::array();
  for (const std::string& name : task_names()) {
    ASSIGN_OR_RETURN(const Task task, find_task(name));
    all.push_back(task.data);
    if (!json) talk.print(format("{:<12}{}\n", name, task.title));
  }
  if (json) talk.print(all.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<void> print_file(const std::string& name, const Talk& talk) {
  for (const EmbeddedFile& file : embedded_tasks()) {
    if (file.name == name + ".yaml") {
      talk.print(file.text);
      return {};
    }
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(name));
  talk.print(text);
  return {};
}

}  // namespace

Result<int> show_tasks(const ShownTask& options, const Talk& talk) {
  if (options.name.empty()) {
    if (options.yaml || !options.sample.empty())
      return invalid("--yaml and --sample: apply to one task; name it");
    return list_tasks(options.json, talk);
  }
  ASSIGN_OR_RETURN(const Task task, find_task(options.name));
  if (!options.sample.empty()) {
    TRY(write_sample(task, options.sample, talk));
  } else if (options.yaml) {
    TRY(print_file(options.name, talk));
  } else if (options.json) {
    talk.print(task.data.dump(2) + "\n");
  } else {
    show_task(task, talk);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::task
