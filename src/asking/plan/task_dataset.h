// Datasets that a task asks (docs/formats/task.md): those whose accuracy_config is {eval_method:
// task, extras: {task: a name, a file, or the whole task}}. The task makes the prompts from the
// rows, gives the generation settings and judges the replies (score/task/).
//
// A config that was read holds the whole task and the paths of its files, so a saved config asks
// and judges as the run did, whatever becomes of the task's file. These functions read files. Any
// thread.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "dataset/dataset.h"
#include "plan/config.h"
#include "plan/schema.h"

namespace assay::plan {

// Puts every named task into the config: the task itself, its dataset's name and format, and its
// generation settings where the dataset has none. Problems go to `reading`.
void read_tasks(Config& config, Reading& reading);

// Finds the files of the tasks that the config's mode uses: as they stand, or below `folder`. A
// file that is in neither place is an error that says where its owners publish it.
Result<void> find_task_files(Config& config, const std::filesystem::path& folder);

// Makes `spec` ask as the task of `data` does. A dataset that is only judged by a task keeps its
// prompts; its rows are kept as the column `doc`. Other datasets are left as they are.
Result<void> ask_by_task(const DatasetConfig& data, dataset::Spec& spec);

}  // namespace assay::plan
