#include "task/prompt.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "base/json_list.h"
#include "base/python_random.h"
#include "dataset/dataset.h"
#include "task/tasks.h"

namespace assay::task {
namespace {

// The rows of a file as they stand.
Result<std::vector<Json>> rows_of(const std::filesystem::path& path, const std::string& form) {
  dataset::Spec spec{.path = path.string(), .format = form, .keep_columns = true};
  spec.make_row = [](Json row) -> Result<Json> {
    return Json().set("prompt", "-").set("doc", std::move(row));
  };
  ASSIGN_OR_RETURN(Dataset data, dataset::load_dataset(spec));
  std::vector<Json> out;
  for (Sample& sample : data.samples) {
    if (Json* const doc = sample.columns.find("doc")) out.push_back(std::move(*doc));
  }
  return out;
}

Result<std::string> render(const Template& from, const Json& row, const Task& task,
                           std::string_view field) {
  auto text = from.render(row);
  if (!text) return text.error().within(format("task {}: {}", task.name, field));
  return text;
}

Json message(std::string_view role, std::string content) {
  return Json().set("role", role).set("content", std::move(content));
}

}  // namespace

Result<Prompter> Prompter::make(const Task& task, const std::filesystem::path& dataset,
                                const std::filesystem::path& folder) {
  Prompter out(task);
  const FewShot& shots = task.few_shot;
  if (shots.count == 0) return out;
  if (!shots.examples.empty()) {
    out.pool_ = shots.examples;
  } else if (!shots.file.empty()) {
    ASSIGN_OR_RETURN(const auto path, dataset_path(task, shots.file, folder));
    ASSIGN_OR_RETURN(out.pool_, rows_of(path, shots.format));
  } else {
    ASSIGN_OR_RETURN(out.pool_, rows_of(dataset, task.format));
    out.pool_is_dataset_ = true;
  }
  return out;
}

Result<std::vector<const Json*>> Prompter::examples_for(const Json& row) {
  const FewShot& shots = task_->few_shot;
  std::vector<const Json*> fit;
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    if (pool_is_dataset_ && i == asked_) continue;
    if (!shots.same.empty() && !(pool_[i][shots.same] == row[shots.same])) continue;
    fit.push_back(&pool_[i]);
  }
  if (fit.size() < shots.count) {
    return invalid(format(
        "task {}: few_shot: row {} needs {} examples{}, and there are {}", task_->name, asked_ + 1,
        shots.count, shots.same.empty() ? "" : format(" with its '{}'", shots.same), fit.size()));
  }
  if (shots.draw == Draw::random) {
    // A draw without replacement: the first places of a shuffle, seeded by task and row.
    PythonRandom random(shots.seed * 0x9E3779B97F4A7C15 + asked_);
    for (std::size_t i = 0; i < shots.count; ++i) {
      std::swap(fit[i], fit[i + static_cast<std::size_t>(random.below(fit.size() - i))]);
    }
  }
  fit.resize(shots.count);
  return fit;
}

Result<Json> Prompter::in_turns(const std::vector<const Json*>& examples, const std::string& intro,
                                const std::string& question) const {
  const FewShot& shots = task_->few_shot;
  const Template& ask = shots.prompt.empty() ? task_->prompt : shots.prompt;
  Json messages = Json::array();
  const std::string system = task_->system + intro;
  if (!system.empty()) messages.push_back(message("system", system));
  for (const Json* const example : examples) {
    ASSIGN_OR_RETURN(std::string user, render(ask, *example, *task_, "few_shot.prompt"));
    ASSIGN_OR_RETURN(std::string reply, render(shots.answer, *example, *task_, "few_shot.answer"));
    messages.push_back(message("user", std::move(user)));
    messages.push_back(message("assistant", std::move(reply)));
  }
  return messages.push_back(message("user", question));
}

Result<Json> Prompter::ask(Json row) {
  TRY(check_columns(*task_, row));
  const FewShot& shots = task_->few_shot;
  ASSIGN_OR_RETURN(const auto examples, examples_for(row));
  ASSIGN_OR_RETURN(const std::string intro, render(task_->intro, row, *task_, "intro"));
  ASSIGN_OR_RETURN(const std::string question, render(task_->prompt, row, *task_, "prompt"));
  ++asked_;
  Json out = Json::object();
  if (shots.as_turns && !examples.empty()) {
    ASSIGN_OR_RETURN(Json messages, in_turns(examples, intro, question));
    out.set("messages", std::move(messages));
  } else {
    const Template& ask = shots.prompt.empty() ? task_->prompt : shots.prompt;
    std::string text = intro;
    for (const Json* const example : examples) {
      ASSIGN_OR_RETURN(const std::string user, render(ask, *example, *task_, "few_shot.prompt"));
      ASSIGN_OR_RETURN(const std::string reply,
                       render(shots.answer, *example, *task_, "few_shot.answer"));
      text += user + reply + shots.separator;
    }
    out.set("prompt", text + question);
    if (!task_->system.empty()) out.set("system", task_->system);
  }
  if (!task_->stop.empty()) {
    out.set("stop", json_list(task_->stop));
  }
  return out.set("doc", std::move(row));
}

}  // namespace assay::task
