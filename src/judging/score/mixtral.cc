// mixtral_8x7b: three tasks in one set; a row's column `dataset` names its task. OpenOrca is judged
// by ROUGE, GSM8K by the reply's number, and MBXP by running the reply as a program
// (program_judge.h) with the tests in the ground truth. `id` of an MBXP row is
// "<language>_<function>". Rows of languages that the suite does not count are left out. GSM8K and
// MBXP rows without a reply are wrong; OpenOrca's are left out of ROUGE.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/format.h"
#include "score/answer/answers.h"
#include "score/code/code_judge.h"
#include "score/code/program_judge.h"
#include "score/scorer.h"
#include "score/text/rouge.h"

namespace assay::score {
namespace {

class Mixtral final : public Scorer {
 public:
  Mixtral(const ScorerOptions& options, std::unique_ptr<ProgramJudge> judge, Sentences sentences)
      : options_(options), judge_(std::move(judge)), rouge_(std::move(sentences)) {
    if (options_.ground_truth.empty()) options_.ground_truth = "gt_output";
    if (options_.subset_column.empty()) options_.subset_column = "dataset";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string task, column_text(row, options_.subset_column));
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    judged_ = Json();
    if (row.answered) {
      ++answered_;
      if (row.tokens >= 0) {
        tokens_ += row.tokens;
        ++counted_;
      }
    }
    if (task == "OpenOrca") {
      if (row.answered) rouge_.add(row.sample, truth, row.reply, row.tokens);
      return {};
    }
    if (task == "GSM8K") {
      Extraction found;
      if (row.answered) found = extract_gsm8k(row.reply);
      const bool right = found.answer && same_number(*found.answer, truth);
      judged_ = judged(found, truth, right ? 1 : 0);
      ++gsm8k_.rows;
      gsm8k_.right += right ? 1U : 0U;
      gsm8k_.tally.add(row.sample, right ? 1 : 0);
      return {};
    }
    if (task == "MBXP") return add_program(row, truth);
    return invalid(format("sample {}: column '{}' is '{}', none of OpenOrca, GSM8K and MBXP",
                          row.sample, options_.subset_column, task));
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    verdict.score = rouge_.json(false);
    verdict.figures = rouge_.figures();
    if (gsm8k_.rows > 0) verdict.score.set("gsm8k", gsm8k_.percent());
    if (mbxp_.rows > 0) verdict.score.set("mbxp", mbxp_.percent());
    if (verdict.score.is_null()) return verdict;
    if (gsm8k_.rows > 0) verdict.figures.push_back(figure_of("gsm8k", gsm8k_.tally));
    if (mbxp_.rows > 0) verdict.figures.push_back(figure_of("mbxp", mbxp_.tally));
    verdict.score.set("gen_num", answered_);
    if (counted_ > 0) {
      const double mean = static_cast<double>(tokens_) / static_cast<double>(counted_);
      verdict.score.set("gen_tok_len", tokens_)
          .set("tokens_per_sample", std::nearbyint(mean * 10) / 10);
    }
    if (!languages_.empty()) {
      Json languages = Json::object();
      for (const auto& [name, part] : languages_) {
        languages.set(name, part.percent());
        verdict.figures.push_back(figure_of("subset_scores." + name, part.tally));
      }
      verdict.breakdown.set("subset_scores", std::move(languages));
    }
    if (mbxp_.rows > 0) verdict.note = judge_->note();
    if (left_out_ > 0) {
      verdict.note += format("{}{} MBXP rows are in languages that are not counted",
                             verdict.note.empty() ? "" : "; ", left_out_);
    }
    return verdict;
  }

 private:
  struct Part {
    std::size_t rows = 0;
    std::size_t right = 0;
    Tally tally{.scale = 100};
    double percent() const { return 100 * static_cast<double>(right) / static_cast<double>(rows); }
  };

  Result<void> add_program(const Row& row, const std::string& tests) {
    if (judge_ == nullptr) return code_refused();
    ASSIGN_OR_RETURN(const std::string id, column_text(row, "id"));
    const std::size_t cut = id.find('_');
    const std::string language = id.substr(0, cut);
    if (cut == std::string::npos || !judge_->counts(language)) {
      ++left_out_;
      return {};
    }
    bool passed = false;
    if (row.answered) {
      auto verdict = judge_->passes(language, id.substr(cut + 1), row.reply, tests);
      if (!verdict) return verdict.error().within(format("sample {}", row.sample));
      passed = *verdict;
    }
    judged_ = Json().set("rule", "tests").set("score", passed ? 1 : 0);
    for (Part* part : {&mbxp_, &languages_[language]}) {
      ++part->rows;
      part->right += passed ? 1 : 0;
      part->tally.add(row.sample, passed ? 1 : 0);
    }
    return {};
  }

  ScorerOptions options_;
  std::unique_ptr<ProgramJudge> judge_;
  RougeMeans rouge_;
  Json judged_{};
  Part gsm8k_{};
  Part mbxp_{};
  std::map<std::string, Part> languages_{};
  std::size_t left_out_ = 0;
  std::size_t answered_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t counted_ = 0;
};

}  // namespace

Made make_mixtral(std::string_view, const ScorerOptions& options) {
  std::unique_ptr<ProgramJudge> judge;
  if (options.allow_code) {
    ASSIGN_OR_RETURN(judge, ProgramJudge::make(options.extra));
  }
  ASSIGN_OR_RETURN(Sentences sentences, Sentences::make(options.extra));
  return std::make_unique<Mixtral>(options, std::move(judge), std::move(sentences));
}

}  // namespace assay::score
