// Prompter: makes the rows that are asked from the rows of a task's dataset: prompt or messages,
// stop strings, and the row itself as the column `doc`, from which the reply is judged. Examples
// (few-shot) are drawn with the task's seed, so that a prompt is the same in every run.
//
// Rows must come in the order of the file, since a row is no example of itself. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "task/task.h"

namespace assay::task {

class Prompter {
 public:
  // Reads the file of the examples; without one they come from `dataset`, which is then read whole.
  // `task` must outlive this object.
  static Result<Prompter> make(const Task& task, const std::filesystem::path& dataset,
                               const std::filesystem::path& folder);

  // `row`: an object. Errors name the task's field, or a missing column.
  Result<Json> ask(Json row);

 private:
  explicit Prompter(const Task& task) : task_(&task) {}
  Result<std::vector<const Json*>> examples_for(const Json& row);
  Result<Json> in_turns(const std::vector<const Json*>& examples, const std::string& intro,
                        const std::string& question) const;

  const Task* task_;
  std::vector<Json> pool_{};
  bool pool_is_dataset_ = false;
  std::uint64_t asked_ = 0;
};

}  // namespace assay::task
