// Exact match, with the extractors of the reference client and of the suites. A row without an
// answer counts as wrong, as in the rules.
#include <map>

#include "score/answer/answers.h"
#include "score/scorer.h"

namespace assay::score {
namespace {

class ExactMatch final : public Scorer {
 public:
  ExactMatch(AnswerKind kind, const ScorerOptions& options) : kind_(kind), options_(options) {
    if (options_.ground_truth.empty()) options_.ground_truth = "ground_truth";
  }

  Result<void> add(const Row& row) override {
    ASSIGN_OR_RETURN(const std::string truth, column_text(row, options_.ground_truth));
    std::string subset;
    if (!options_.subset_column.empty()) {
      ASSIGN_OR_RETURN(subset, column_text(row, options_.subset_column));
    }
    Judgement judgement;
    if (row.answered) judgement = judge_answer(kind_, options_.extractor, row.reply, truth);
    const bool right = judgement.right;
    judged_ = judged(judgement.found, truth, right ? 1 : 0);
    for (Part* part : {&all_, &subsets_[subset]}) {
      ++part->rows;
      part->right += right ? 1 : 0;
      part->tally.add(row.sample, right ? 1 : 0);
    }
    return {};
  }

  Json last_judged() const override { return judged_; }

  Result<Verdict> finish() override {
    Verdict verdict;
    if (all_.rows == 0) return verdict;
    verdict.score = all_.share();
    verdict.figures.push_back(figure_of("score", all_.tally));
    if (options_.subset_column.empty()) return verdict;
    Json scores = Json::object();
    for (auto& [name, part] : subsets_) {
      scores.set(name, 100 * part.share());
      part.tally.scale = 100;
      verdict.figures.push_back(figure_of("subset_scores." + name, part.tally));
    }
    verdict.breakdown.set("subset_scores", std::move(scores)).set("total_samples", all_.rows);
    return verdict;
  }

 private:
  struct Part {
    std::size_t rows = 0;
    std::size_t right = 0;
    Tally tally{};
    double share() const { return static_cast<double>(right) / static_cast<double>(rows); }
  };

  AnswerKind kind_;
  ScorerOptions options_;
  Json judged_{};
  Part all_{};
  std::map<std::string, Part> subsets_{};
};

}  // namespace

Made make_exact_match(std::string_view name, const ScorerOptions& options) {
  return std::make_unique<ExactMatch>(answer_kind(name).value_or(AnswerKind::same), options);
}

}  // namespace assay::score
