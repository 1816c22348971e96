// code_bench_scorer: the share of replies whose last code block passes every test of its sample. A
// row without an answer counts as wrong.

#include "score/answer/answers.h"
#include "score/code/code_judge.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

class CodeScorer final : public Scorer {
 public:
  CodeScorer(const ScorerOptions& options, std::unique_ptr<CodeJudge> judge)
      : options_(options), judge_(std::move(judge)) {
    if (options_.extractor.empty()) options_.extractor = "python_code_extractor";
  }

  Result<void> add(const Row& row) override {
    bool right = false;
    Extraction found;
    if (row.answered) {
      found = extract(options_.extractor, row.reply);
      ASSIGN_OR_RETURN(right, judge_->passes(found.answer.value_or(""), row));
    }
    judged_ = judged(found, "tests", right ? 1 : 0);
    ++rows_;
    right_ += right ? 1 : 0;
    tally_.add(row.sample, right ? 1 : 0);
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (rows_ > 0) {
      verdict.score = static_cast<double>(right_) / static_cast<double>(rows_);
      verdict.figures.push_back(figure_of("score", std::move(tally_)));
    }
    verdict.note = judge_->note();
    return verdict;
  }

 private:
  ScorerOptions options_;
  std::unique_ptr<CodeJudge> judge_;
  Json judged_{};
  std::size_t rows_ = 0;
  std::size_t right_ = 0;
  Tally tally_{};
};

}  // namespace

Made make_code(std::string_view, const ScorerOptions& options) {
  if (!options.allow_code) return code_refused();
  ASSIGN_OR_RETURN(auto judge, CodeJudge::make(options.extra));
  return std::make_unique<CodeScorer>(options, std::move(judge));
}

}  // namespace assay::score
