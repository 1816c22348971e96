// Tasks by name: those in the binary (tasks/*.yaml), and files of the user's. `find_task` reads a
// file; the others are pure. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "task/task.h"

namespace assay::task {

struct EmbeddedFile {
  std::string name{};
  std::string text{};
};
// The build writes it from tasks/.
std::vector<EmbeddedFile> embedded_tasks();

// In order of name.
std::vector<std::string> task_names();

// `name`: a task in the binary, or a file that ends in .yaml. An unknown name is an error that
// lists the known ones. The dataset's path of a file is made relative to the file's folder, if the
// dataset is there.
Result<Task> find_task(const std::string& name);

// What a scorer's extras or a dataset's accuracy_config hold as `task`: a name, a file, or the
// whole task as an object.
Result<Task> task_of(const Json& value);

// The path of a dataset file of a task: as it stands if it exists, else below `folder`. Fails if it
// is in neither place, with the place where its owners publish it.
Result<std::filesystem::path> dataset_path(const Task& task, const std::string& file,
                                           const std::filesystem::path& folder);

}  // namespace assay::task
