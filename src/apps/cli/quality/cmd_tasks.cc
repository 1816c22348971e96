#include <filesystem>

#include "base/exit_code.h"
#include "base/files.h"
#include "base/flags.h"
#include "base/format.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "task/tasks.h"

namespace assay::cli {
namespace {

std::string joined_names(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

void task_line(std::string_view label, std::string_view text) {
  if (!text.empty()) print(format("{:<12}{}\n", label, text));
}

void show_task(const task::Task& task) {
  print(format("{}: {}\n\n", task.name, task.title));
  task_line("dataset", task.file);
  task_line("", format("columns {}", joined_names(task.columns)));
  if (task.rows > 0) {
    task_line("", with_thousands(static_cast<std::int64_t>(task.rows)) + " rows");
  }
  task_line("published", task.published);
  task_line("", task.prepare);
  if (task.few_shot.count > 0) {
    task_line("examples", format("{} of {}", task.few_shot.count,
                                 task.few_shot.file.empty() ? "the dataset" : task.few_shot.file));
  }
  for (const task::Rule& rule : task.rules) {
    task_line(&rule == &task.rules.front() ? "scores" : "",
              rule.name == task::to_string(rule.metric)
                  ? rule.name
                  : format("{} ({})", rule.name, task::to_string(rule.metric)));
  }
  if (!task.by.empty()) task_line("by", task.by);
  for (const std::string& note : task.notes) task_line("note", note);
  for (const std::string& source : task.sources) task_line("source", source);
}

Result<void> write_rows(const std::filesystem::path& path, const std::vector<Json>& rows) {
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (std::filesystem::exists(path, error)) {
    return invalid(
        format("--sample: '{}' is there already, and is not overwritten", path.string()));
  }
  std::string text;
  for (const Json& row : rows) text += row.dump() + "\n";
  TRY(write_file_atomic(path, text));
  say(format("wrote {}: {} made-up rows", path.string(), rows.size()));
  return {};
}

Result<void> write_sample(const task::Task& task, const std::filesystem::path& folder) {
  if (task.sample.empty()) return invalid(format("task {}: it has no sample", task.name));
  TRY(write_rows(folder / task.file, task.sample));
  if (task.few_shot.file.empty() || task.few_shot.sample.empty()) return {};
  return write_rows(folder / task.few_shot.file, task.few_shot.sample);
}

Result<int> list_tasks(bool json) {
  Json all = Json::array();
  for (const std::string& name : task::task_names()) {
    ASSIGN_OR_RETURN(const task::Task task, task::find_task(name));
    all.push_back(task.data);
    if (!json) print(format("{:<12}{}\n", name, task.title));
  }
  if (json) print(all.dump(2) + "\n");
  return exit_code(ExitCode::done);
}

Result<void> print_file(const std::string& name) {
  for (const task::EmbeddedFile& file : task::embedded_tasks()) {
    if (file.name == name + ".yaml") {
      print(file.text);
      return {};
    }
  }
  ASSIGN_OR_RETURN(const std::string text, read_file(name));
  print(text);
  return {};
}

}  // namespace

Result<int> cmd_tasks(Args args) {
  std::string name;
  std::string sample;
  bool json = false;
  bool list = false;
  bool yaml = false;
  Flags flags("tasks", "tasks: prompt, examples, extraction and metric in one file");
  flags.add("NAME", &name, "one of them, or a FILE.yaml: it is read and checked");
  flags.add("--list", &list, "the ready ones, a line each; the same without NAME");
  flags.add("--yaml", &yaml, "print the file, to copy and change");
  flags.add("--sample", &sample, "write its few made-up rows below a folder, for a first try")
      .value("DIR");
  flags.add("--json", &json, "print it as JSON");
  flags.example("assay tasks");
  flags.example("assay tasks gsm8k --yaml > mine.yaml");
  flags.example("assay tasks gsm8k --sample datasets");
  ASSIGN_OR_RETURN(const bool go, flags.parse(args));
  if (!go) return exit_code(ExitCode::done);
  if (name.empty()) {
    if (yaml || !sample.empty()) return invalid("--yaml and --sample: are about one task; name it");
    return list_tasks(json);
  }
  ASSIGN_OR_RETURN(const task::Task task, task::find_task(name));
  if (!sample.empty()) {
    TRY(write_sample(task, sample));
  } else if (yaml) {
    TRY(print_file(name));
  } else if (json) {
    print(task.data.dump(2) + "\n");
  } else {
    show_task(task);
  }
  return exit_code(ExitCode::done);
}

}  // namespace assay::cli
