// task: judges by a task file (docs/formats/task.md). extras.task is the task: its name, its file,
// or the task itself, as the config of a run has it. Each figure is the share of right ones; a row
// without an answer is wrong. A row that was asked by a task has its dataset's row in the column
// `doc`; else the columns are the row.
#include <map>
#include <utility>

#include "base/format.h"
#include "base/json_list.h"
#include "score/answer/answers.h"
#include "score/code/code_judge.h"
#include "score/code/program_judge.h"
#include "score/scorer.h"
#include "score/task/compare.h"
#include "score/task/instructions.h"
#include "score/task/steps.h"
#include "score/uncertainty.h"
#include "task/tasks.h"

namespace assay::score {
namespace {

// By a figure's name, in the order of the task: right ones of all, sample by sample.
class Figures {
 public:
  void add(std::string_view name, std::uint32_t sample, std::uint64_t right, std::uint64_t of) {
    for (auto& [known, tally] : all_) {
      if (known == name) return add_to(tally, sample, right, of);
    }
    all_.emplace_back(name, Tally{});
    add_to(all_.back().second, sample, right, of);
  }
  const std::vector<std::pair<std::string, Tally>>& all() const { return all_; }
  Json json(double scale) const {
    if (all_.size() == 1) return scale * all_.front().second.value();
    Json out = Json::object();
    for (const auto& [name, tally] : all_) out.set(name, scale * tally.value());
    return out;
  }
  // `of`: the category; empty for the whole, whose figures are fractions.
  void tell(const std::string& of, std::vector<ScoreFigure>& out) const {
    for (auto [name, tally] : all_) {
      tally.scale = of.empty() ? 1 : 100;
      std::string key = of.empty() ? "score" : "subset_scores." + of;
      if (all_.size() > 1) key = of.empty() ? name : key + "." + name;
      out.push_back(figure_of(std::move(key), std::move(tally)));
    }
  }

 private:
  static void add_to(Tally& tally, std::uint32_t sample, std::uint64_t right, std::uint64_t of) {
    tally.add(sample, static_cast<double>(right), static_cast<double>(of));
  }
  std::vector<std::pair<std::string, Tally>> all_{};
};

std::string category_of(const Json& value) {
  return value.is_string() ? std::string(value.as_string()) : value.dump();
}

class TaskScorer final : public Scorer {
 public:
  TaskScorer(task::Task task, std::unique_ptr<ProgramJudge> judge,
             std::vector<InstructionJudge> instructions)
      : task_(std::move(task)), judge_(std::move(judge)), instructions_(std::move(instructions)) {}

  Result<void> add(const Row& row) override {
    const Json* const doc = row.columns->find("doc");
    const Json& columns = doc != nullptr && doc->is_object() ? *doc : *row.columns;
    const auto there = task::check_columns(task_, columns);
    if (!there) return there.error().within(format("sample {}", row.sample));
    ++rows_;
    sample_ = row.sample;
    judged_ = Json();
    part_ = task_.by.empty() ? nullptr : &by_[category_of(columns[task_.by])];
    std::size_t instructions = 0;
    for (const task::Rule& rule : task_.rules) {
      Result<void> judged;
      if (rule.metric == task::Metric::instructions) {
        judged = follow(instructions_[instructions++], rule, row, columns);
      } else if (rule.metric == task::Metric::code) {
        judged = run(rule, row, columns);
      } else {
        judged = compare(rule, row, columns);
      }
      if (!judged) return judged.error().within(format("sample {}", row.sample));
    }
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rows_ == 0) return verdict;
    verdict.score = task_.weigh_categories ? means() : all_.json(1);
    // A mean of categories is no sum over samples, so it has no interval.
    if (!task_.weigh_categories) all_.tell("", verdict.figures);
    if (!task_.by.empty()) {
      Json parts = Json::object();
      for (const auto& [name, part] : by_) {
        parts.set(name, part.json(100));
        part.tell(name, verdict.figures);
      }
      verdict.breakdown.set("subset_scores", std::move(parts)).set("total_samples", rows_);
    }
    if (judge_ != nullptr) verdict.note = judge_->note();
    for (const InstructionJudge& one : instructions_) {
      if (!one.note().empty()) verdict.note += (verdict.note.empty() ? "" : "; ") + one.note();
    }
    return verdict;
  }

 private:
  static std::string_view read(const task::Rule& rule, const Row& row) {
    return rule.whole_reply || row.content.empty() ? row.reply : row.content;
  }

  void count(std::string_view name, std::uint64_t right, std::uint64_t of) {
    all_.add(name, sample_, right, of);
    if (part_ != nullptr) part_->add(name, sample_, right, of);
  }

  // The first score is the record of a row.
  void say(const task::Rule& rule, Json judged) {
    if (&rule == &task_.rules.front()) judged_ = std::move(judged);
  }

  Result<void> compare(const task::Rule& rule, const Row& row, const Json& columns) {
    ASSIGN_OR_RETURN(const std::string spelled, rule.truth.render(columns));
    const Extraction wanted = apply_steps(rule.truth_extract, spelled);
    if (!wanted.answer) {
      return invalid(format("score {}: truth_extract finds nothing in '{}'", rule.name, spelled));
    }
    Extraction found;
    bool right = false;
    if (row.answered) found = apply_steps(rule.extract, read(rule, row));
    if (found.answer) {
      ASSIGN_OR_RETURN(right, is_true_answer(rule, *found.answer, *wanted.answer));
    }
    count(rule.name, right ? 1 : 0, 1);
    say(rule, judged(found, *wanted.answer, right ? 1 : 0));
    return {};
  }

  Result<void> follow(InstructionJudge& judge, const task::Rule& rule, const Row& row,
                      const Json& columns) {
    const std::string reply = row.answered ? std::string(read(rule, row)) : std::string();
    ASSIGN_OR_RETURN(const Followed followed, judge.judge(columns, reply));
    count("prompt_level_strict_acc", followed.strict_all() ? 1 : 0, 1);
    count("inst_level_strict_acc", Followed::number(followed.strict), followed.strict.size());
    count("prompt_level_loose_acc", followed.loose_all() ? 1 : 0, 1);
    count("inst_level_loose_acc", Followed::number(followed.loose), followed.loose.size());
    const Json kept =
        Json().set("strict", json_list(followed.strict)).set("loose", json_list(followed.loose));
    say(rule, Json()
                  .set("extracted", kept.dump())
                  .set("rule", "instructions")
                  .set("truth", columns["instruction_id_list"].dump())
                  .set("score", followed.strict_all() ? 1 : 0));
    return {};
  }

  Result<void> run(const task::Rule& rule, const Row& row, const Json& columns) {
    bool right = false;
    Extraction found;
    if (row.answered) found = apply_steps(rule.extract, read(rule, row));
    if (found.answer) {
      Json names = columns;
      names.set("answer", *found.answer).set("reply", readable_reply(rule, row));
      std::string program = *found.answer;
      if (!rule.program.empty()) {
        ASSIGN_OR_RETURN(program, rule.program.render(names));
      }
      ASSIGN_OR_RETURN(const std::string tests, rule.tests.render(names));
      ASSIGN_OR_RETURN(const std::string function, rule.function.render(names));
      ASSIGN_OR_RETURN(right, judge_->passes_python(function, program, tests));
    }
    count(rule.name, right ? 1 : 0, 1);
    say(rule, judged(found, "tests", right ? 1 : 0));
    return {};
  }

  static std::string readable_reply(const task::Rule& rule, const Row& row) {
    return apply_steps({}, read(rule, row)).answer.value_or("");
  }

  // The mean of the categories' figures.
  Json means() const {
    std::vector<std::pair<std::string, double>> sums;
    for (const auto& [name, tally] : all_.all()) {
      double sum = 0;
      for (const auto& [category, part] : by_) {
        for (const auto& [known, of] : part.all()) sum += known == name ? of.value() : 0;
      }
      sums.emplace_back(name, sum / static_cast<double>(by_.size()));
    }
    if (sums.size() == 1) return sums.front().second;
    Json out = Json::object();
    for (const auto& [name, mean] : sums) out.set(name, mean);
    return out;
  }

  task::Task task_;
  std::unique_ptr<ProgramJudge> judge_;
  std::vector<InstructionJudge> instructions_;
  Figures all_{};
  std::map<std::string, Figures> by_{};
  Figures* part_ = nullptr;
  Json judged_{};
  std::uint64_t rows_ = 0;
  std::uint32_t sample_ = 0;  // of the row that is judged
};

}  // namespace

Made make_task(std::string_view, const ScorerOptions& options) {
  const Json& named = options.extra["task"];
  if (named.is_null()) {
    return invalid(
        "extras.task: is missing: a task's name or file\n  assay tasks lists the ready ones");
  }
  ASSIGN_OR_RETURN(task::Task task, task::task_of(named));
  if (!options.subset_column.empty()) task.by = options.subset_column;
  std::unique_ptr<ProgramJudge> judge;
  std::vector<InstructionJudge> instructions;
  for (const task::Rule& rule : task.rules) {
    if (rule.metric == task::Metric::instructions) {
      ASSIGN_OR_RETURN(InstructionJudge one, InstructionJudge::make(rule.extras, options.extra));
      instructions.push_back(std::move(one));
    }
    if (rule.metric != task::Metric::code) continue;
    if (!options.allow_code) return code_refused();
    ASSIGN_OR_RETURN(judge, ProgramJudge::make(rule.extras));
  }
  return std::make_unique<TaskScorer>(std::move(task), std::move(judge), std::move(instructions));
}

}  // namespace assay::score
